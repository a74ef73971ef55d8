/// Tokens that are cut out of the text before the model sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "tokenizer/added_tokens/byte_trie.h"
#include "tokenizer/normalizer/normalizer.h"
#include "tokenizer/pieces.h"
#include "tokenizer/vocabulary.h"

namespace layard::tokenizer {

/// The "added_tokens" of a file. Ids are the package's, not the file's: the model's id of the same
/// text, else the next free one.
/// Thread-safety: immutable after from_json.
/// Source: tokenizers 0.23 (tokenizer/added_vocabulary.rs).
class AddedTokens {
 public:
  /// `value`: an array, or null for none.
  /// Errors: kArtifactIntegrity naming the field; kUnsupportedModel for two tokens with one
  /// normalized text (the package's choice between them is not defined) and for a normalized text
  /// that is empty.
  static Result<AddedTokens> from_json(const base::JsonValue& value, const Vocabulary& model,
                                       const Normalizer& normalizer);

  /// Cuts `text` at the tokens, and what lies between them by the normalizer and the normalized
  /// tokens. REQUIRES: `pieces` is fresh and of well-formed text.
  void cut(const Normalizer& normalizer, Pieces& pieces) const;

  /// The id of a token's own text.
  std::optional<std::int32_t> find(std::string_view content) const;
  /// What decoding makes of `id`: the normalized text where there is one. Null: no such token.
  const std::string* text_of(std::int32_t id) const;
  /// Whether `text` is the content of a special token.
  bool is_special(std::string_view text) const;
  /// How many tokens have no id of the model's own.
  std::size_t beyond(const Vocabulary& model) const;

 private:
  struct Token {
    std::string content;
    bool single_word = false;
    bool lstrip = false;
    bool rstrip = false;
    bool normalized = true;
    bool special = false;
    bool operator==(const Token&) const = default;
  };
  static Result<Token> read(const base::JsonValue& value, std::size_t index);

  Status add(Token token, std::int32_t& next_id, const Vocabulary& model,
             const Normalizer& normalizer);
  Status build_tries();
  void cut_at(const ByteTrie& trie, std::string_view text, std::size_t offset,
              Pieces& pieces) const;

  std::unordered_map<std::string, std::int32_t> by_content_;
  std::unordered_map<std::int32_t, Token> by_id_;
  std::unordered_map<std::int32_t, std::string> normalized_;  // where it differs from the content
  std::unordered_set<std::string> special_texts_;
  ByteTrie raw_trie_;
  ByteTrie normalized_trie_;
};

}  // namespace layard::tokenizer
