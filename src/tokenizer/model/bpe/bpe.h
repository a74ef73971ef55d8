/// Byte-pair encoding of one pre-tokenized piece.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "tokenizer/model/bpe/merge_table.h"
#include "tokenizer/model/bpe/merger.h"
#include "tokenizer/model/bpe/seams.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/vocabulary.h"

namespace layard::tokenizer {

/// A BPE model with byte_fallback, fuse_unk, ignore_merges, unk_token,
/// continuing_subword_prefix and end_of_word_suffix. Dropout is refused: it is random.
/// Thread-safety: immutable after from_file.
/// Source: tokenizers 0.23 (models/bpe/model.rs).
class BpeModel {
 public:
  /// Whether pieces arrive as raw bytes whose byte-level spelling the model has to look up
  /// (a ByteLevel pre-tokenizer right before it), or as the texts to look up.
  enum class Input : unsigned char { kText, kRawBytes };

  /// Errors: kArtifactIntegrity for a missing field or a merge of unknown tokens,
  /// kUnsupportedModel for dropout or an unk_token that some text needs and no token is.
  static Result<BpeModel> from_file(ModelFile file, Input input);

  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }

  /// Appends the ids of one piece. `merger` is working space.
  void encode(std::string_view piece, Merger& merger, std::vector<std::int32_t>& ids) const;

 private:
  Status read_options(const ModelFile& file);
  Status read_merges(const MergeTexts& merges, std::vector<MergeRule>& rules);
  void build_seams(const std::vector<MergeRule>& rules);
  void index_characters();
  Status check_unknown() const;
  bool covers_all_bytes() const;

  void add_characters(std::string_view piece, Merger& merger) const;
  std::int32_t find_character(std::string_view piece, std::size_t offset, std::size_t bytes) const;
  bool add_bytes(std::string_view text, Merger& merger) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  Seams seams_;
  Input input_ = Input::kText;
  bool fuse_unk_ = false;
  bool byte_fallback_ = false;
  bool ignore_merges_ = false;
  std::optional<std::string> unk_token_;
  std::int32_t unk_id_ = Vocabulary::kNoId;
  std::string prefix_;                            // continuing_subword_prefix
  std::string suffix_;                            // end_of_word_suffix
  std::vector<std::int32_t> character_ids_;       // of code points below 0x10000
  std::array<std::int32_t, 256> raw_byte_ids_{};  // of the byte-level spelling of each byte
  std::array<std::int32_t, 256> fallback_ids_{};  // of <0x00> ... <0xFF>
  bool raw_bytes_complete_ = false;
};

}  // namespace layard::tokenizer
