/// The parts of a tokenizer.json, read in one pass; large ones go straight into their tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "tokenizer/vocabulary.h"

namespace layard::tokenizer {

/// Merge rules in file order: pairs of texts in one arena.
class MergeTexts {
 public:
  /// Makes room as a file of `json_bytes` may need; memory that is not used is never touched.
  void reserve(std::size_t json_bytes);
  /// Starts a pair with its left text; a right text must follow.
  void add_left(std::string_view text);
  void add_right(std::string_view text);
  std::size_t size() const noexcept { return pairs_.size(); }
  std::string_view left(std::size_t i) const noexcept {
    return std::string_view(arena_).substr(pairs_[i].offset, pairs_[i].left_bytes);
  }
  std::string_view right(std::size_t i) const noexcept {
    return std::string_view(arena_).substr(pairs_[i].offset + pairs_[i].left_bytes,
                                           pairs_[i].right_bytes);
  }
  /// left(i) + right(i).
  std::string_view both(std::size_t i) const noexcept {
    return std::string_view(arena_).substr(pairs_[i].offset,
                                           pairs_[i].left_bytes + pairs_[i].right_bytes);
  }

 private:
  struct Pair {
    std::uint32_t offset;
    std::uint32_t left_bytes;
    std::uint32_t right_bytes;
  };
  std::string arena_;
  std::vector<Pair> pairs_;
};

/// The "model" object: small fields as JSON, vocabulary and merges in their tables.
struct ModelFile {
  base::JsonValue fields = base::JsonValue::object();
  std::optional<Vocabulary> vocabulary;  // only if "vocab" is an object
  std::optional<MergeTexts> merges;
};

/// All parts that matter for ids and decoding; null where absent. post_processor, truncation and
/// padding are not read: no caller here asks for what they do.
struct TokenizerFile {
  std::optional<ModelFile> model;
  base::JsonValue added_tokens;
  base::JsonValue normalizer;
  base::JsonValue pre_tokenizer;
  base::JsonValue decoder;
};

/// Reads `json`. Both spellings of merges are known: pairs, and strings with one blank (lines that
/// start with `#version` are skipped).
/// Bounds: base::kTokenizerFileBytesMax, 16 million values, 64 levels.
/// Errors: kArtifactIntegrity naming the field; an unknown version too.
/// Source: tokenizers 0.23 (tokenizer/serialization.rs, models/bpe/serialization.rs).
Result<TokenizerFile> read_tokenizer_file(std::string_view json);

}  // namespace layard::tokenizer
