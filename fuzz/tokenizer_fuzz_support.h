/// What both tokenizer fuzzers hold a tokenizer to.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/id_cache.h"
#include "tokenizer/tokenizer.h"

namespace layard::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Encodes `text` twice and through a cache, decodes the ids: the same ids every time, all of them
/// with a token, and decoding leaves UTF-8.
inline void encode_and_decode(const tokenizer::Tokenizer& tokens, std::string_view text,
                              tokenizer::IdCache& cache) {
  std::vector<std::int32_t> ids;
  tokens.encode(text, ids);
  for (const std::int32_t id : ids) {
    require(id >= 0);
    // An empty text is a token only where the vocabulary has it.
    require(!tokens.id_to_token(id).empty() || tokens.token_to_id("") == id);
  }
  std::vector<std::int32_t> again{-1};
  tokens.encode(text, again);
  require(again.size() == ids.size() + 1 && again.front() == -1);
  require(std::vector<std::int32_t>(again.begin() + 1, again.end()) == ids);
  cache.insert(text, ids);
  const auto kept = cache.find(text);
  require(!kept.has_value() || *kept == ids);
  for (const auto special : {tokenizer::SpecialText::kKeep, tokenizer::SpecialText::kSkip}) {
    require(base::is_valid_utf8(tokens.decode(ids, special)));
  }
}

}  // namespace layard::fuzz
