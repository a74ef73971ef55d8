/// Texts to token ids and back, as a tokenizer.json says, equal to the Rust `tokenizers` package.
///
/// Invariants: ids depend on the text alone; no special tokens are added; post_processor,
/// truncation and padding of the file are ignored; a component that is not implemented is refused
/// by name when the file is read, so encoding never fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layard/error.h"
#include "tokenizer/added_tokens/added_tokens.h"
#include "tokenizer/decoder/decoder.h"
#include "tokenizer/model/bpe/bpe.h"
#include "tokenizer/model/wordpiece/wordpiece.h"
#include "tokenizer/normalizer/normalizer.h"
#include "tokenizer/pretokenizer/pretokenizer.h"

namespace layard::tokenizer {

/// Whether decoding leaves out special tokens.
enum class SpecialText : unsigned char { kKeep, kSkip };

/// One tokenizer. Thread-safety: immutable; any number of threads may call it.
/// Source: tokenizers 0.23 (Tokenizer::encode with add_special_tokens false, decode).
class Tokenizer {
 public:
  /// Reads a file of at most base::kTokenizerFileBytesMax. The one way to read one.
  /// Errors: kIo (absent, unreadable), kArtifactIntegrity (too large), and those of from_json; all
  /// name the file.
  static Result<std::shared_ptr<const Tokenizer>> from_file(const std::filesystem::path& path);

  /// `tokenizer_json`: the file's text.
  /// Errors: kArtifactIntegrity (not what the format says; names the field), kUnsupportedModel
  /// (a component that is not implemented; names it).
  static Result<std::shared_ptr<const Tokenizer>> from_json(std::string_view tokenizer_json);

  /// Appends the ids of `text` to `ids`. Added tokens inside the text become their ids.
  /// Ill-formed UTF-8 is read as U+FFFD first.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

  /// The text of `ids`; ids that no token has are left out.
  std::string decode(std::span<const std::int32_t> ids) const {
    return decode(ids, SpecialText::kKeep);
  }
  std::string decode(std::span<const std::int32_t> ids, SpecialText special) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// The token's text as the vocabulary spells it; empty when no token has the id. Valid while this
  /// lives.
  std::string_view id_to_token(std::int32_t id) const;
  /// Tokens of the model and those added to it.
  std::size_t vocab_size() const;

 private:
  using Model = std::variant<BpeModel, WordPieceModel>;

  Tokenizer(Normalizer normalizer, PreTokenizer pre_tokenizer, Model model, AddedTokens added,
            Decoder decoder);
  const Vocabulary& vocabulary() const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Model model_;
  AddedTokens added_;
  Decoder decoder_;
};

}  // namespace layard::tokenizer
