/// Greedy longest-match encoding of one word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/vocabulary.h"

namespace layard::tokenizer {

/// A WordPiece model. Thread-safety: immutable after from_file.
/// Source: tokenizers 0.23 (models/wordpiece/mod.rs).
class WordPieceModel {
 public:
  /// Errors: kArtifactIntegrity for a missing field; kUnsupportedModel when unk_token is no token,
  /// and for words and tokens so long that encoding would take the square of a text's length.
  static Result<WordPieceModel> from_file(ModelFile file);

  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }

  /// Appends the ids of one word: the unknown token alone when a part has no token or the word has
  /// more than max_input_chars_per_word characters. `scratch` is working space.
  void encode(std::string_view word, std::string& scratch, std::vector<std::int32_t>& ids) const;

 private:
  Status check_effort() const;

  Vocabulary vocabulary_;
  std::string prefix_;  // continuing_subword_prefix
  std::int32_t unk_id_ = Vocabulary::kNoId;
  std::size_t word_chars_max_ = 0;
};

}  // namespace layard::tokenizer
