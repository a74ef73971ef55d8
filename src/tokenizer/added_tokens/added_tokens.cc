#include "tokenizer/added_tokens/added_tokens.h"

#include <algorithm>
#include <utility>

#include "tokenizer/json_fields.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

constexpr std::size_t kTokensMax = 1U << 20U;
constexpr std::size_t kContentBytesMax = std::size_t{1} << 20U;  // of all tokens: a trie node each

bool ends_with_word(std::string_view text) {
  const std::size_t last = previous_char(text, text.size());
  return (CharClasses::get()(next_char(text, last).code_point) & kWord) != 0;
}

bool starts_with_word(std::string_view text) {
  return (CharClasses::get()(next_char(text, 0).code_point) & kWord) != 0;
}

bool stands_alone(std::string_view text, const ByteTrie::Match& match) {
  const bool before = match.begin == 0 || !ends_with_word(text.substr(0, match.begin));
  const bool after = match.end() == text.size() || !starts_with_word(text.substr(match.end()));
  return before && after;
}

}  // namespace

Result<AddedTokens> AddedTokens::from_json(const base::JsonValue& value, const Vocabulary& model,
                                           const Normalizer& normalizer) {
  AddedTokens tokens;
  if (value.size() > kTokensMax) {
    return bad_file("added_tokens", "more than " + std::to_string(kTokensMax) + " tokens");
  }
  auto next_id = static_cast<std::int32_t>(model.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    LAYARD_ASSIGN(Token token, read(value.items()[i], i));
    bytes += token.content.size();
    if (bytes > kContentBytesMax) {
      return bad_file("added_tokens",
                      "more than " + std::to_string(kContentBytesMax) + " bytes of token texts");
    }
    LAYARD_TRY(tokens.add(std::move(token), next_id, model, normalizer));
  }
  LAYARD_TRY(tokens.build_tries());
  return tokens;
}

Result<AddedTokens::Token> AddedTokens::read(const base::JsonValue& value, std::size_t index) {
  LAYARD_ASSIGN(const JsonFields fields,
                JsonFields::of(value, "added_tokens[" + std::to_string(index) + "]"));
  Token token;
  LAYARD_TRY(fields.whole_number("id", 0xFFFFFFFFLL));  // required, but not what counts
  LAYARD_ASSIGN(token.content, fields.string("content"));
  LAYARD_ASSIGN(token.single_word, fields.boolean("single_word"));
  LAYARD_ASSIGN(token.lstrip, fields.boolean("lstrip"));
  LAYARD_ASSIGN(token.rstrip, fields.boolean("rstrip"));
  LAYARD_ASSIGN(token.normalized, fields.boolean("normalized"));
  LAYARD_ASSIGN(token.special, fields.boolean("special"));
  return token;
}

Status AddedTokens::add(Token token, std::int32_t& next_id, const Vocabulary& model,
                        const Normalizer& normalizer) {
  if (token.content.empty()) return {};
  const auto known = by_content_.find(token.content);
  if (known != by_content_.end() && by_id_.at(known->second) == token) return {};
  std::int32_t id = known != by_content_.end() ? known->second : model.find(token.content);
  if (id == Vocabulary::kNoId) id = next_id++;
  if (token.normalized) {
    std::string normalized;
    normalizer.append(token.content, normalized);
    if (normalized != token.content) normalized_[id] = std::move(normalized);
  }
  by_content_[token.content] = id;
  if (token.special) special_texts_.insert(token.content);
  by_id_[id] = std::move(token);
  return {};
}

Status AddedTokens::build_tries() {
  for (const auto& [id, token] : by_id_) {
    const auto changed = token.normalized ? normalized_.find(id) : normalized_.end();
    const std::string& pattern = changed != normalized_.end() ? changed->second : token.content;
    if (pattern.empty()) {
      return not_implemented("the added token \"" + token.content +
                             "\", of which normalization leaves nothing,");
    }
    ByteTrie& trie = token.normalized ? normalized_trie_ : raw_trie_;
    if (!trie.insert(pattern, id)) {
      return not_implemented("two added tokens with the normalized text \"" + pattern + "\"");
    }
  }
  raw_trie_.finish();
  normalized_trie_.finish();
  return {};
}

void AddedTokens::cut(const Normalizer& normalizer, Pieces& pieces) const {
  const std::string_view text = pieces.text();
  if (!text.empty()) cut_at(raw_trie_, text, 0, pieces);
  if (!normalizer.empty()) {
    pieces.rewrite(
        [&normalizer](std::string_view piece, std::string& out) { normalizer.append(piece, out); });
  }
  if (normalized_trie_.empty()) return;
  const std::string_view normalized = pieces.text();
  pieces.recut([&](std::size_t begin, std::size_t end) {
    cut_at(normalized_trie_, normalized.substr(begin, end - begin), begin, pieces);
  });
}

// As find_matches of the package, also where it is odd: the search goes on behind a match, not
// behind the white space that rstrip took with it. White space is looked at once, however many
// tokens in it would strip it.
void AddedTokens::cut_at(const ByteTrie& trie, std::string_view text, std::size_t offset,
                         Pieces& pieces) const {
  const CharClasses& classes = CharClasses::get();
  const std::vector<ByteTrie::Match> matches = trie.find_all(text);
  std::size_t done = 0;
  std::size_t from = 0;
  std::size_t space_end = 0;  // of the white space that an rstrip looked at last
  // The first place comes last.
  for (auto place = matches.rbegin(); place != matches.rend(); ++place) {
    const ByteTrie::Match& match = *place;
    if (match.begin < from) continue;
    from = match.end();
    const Token& token = by_id_.at(match.value);
    if (token.single_word && !stands_alone(text, match)) continue;
    std::size_t begin = match.begin;
    std::size_t end = match.end();
    if (token.lstrip) {
      begin = done < begin ? done + classes.trailing_space_begin(text.substr(done, begin - done))
                           : done;
    }
    if (token.rstrip) {
      if (end >= space_end) space_end = end + classes.leading_space_end(text.substr(end));
      end = space_end;
    }
    if (done < begin) pieces.add_text(offset + done, offset + begin);
    // Nothing is left of a token whose white space an earlier one took: the package drops it where
    // begin and end are equal, and fails where they have crossed.
    if (begin < end) pieces.add_token(offset + begin, offset + end, match.value);
    done = end;
  }
  if (done != text.size()) pieces.add_text(offset + done, offset + text.size());
}

std::optional<std::int32_t> AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  if (found == by_content_.end()) return std::nullopt;
  return found->second;
}

const std::string* AddedTokens::text_of(std::int32_t id) const {
  const auto changed = normalized_.find(id);
  if (changed != normalized_.end()) return &changed->second;
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second.content;
}

bool AddedTokens::is_special(std::string_view text) const {
  return !special_texts_.empty() && special_texts_.contains(std::string(text));
}

std::size_t AddedTokens::beyond(const Vocabulary& model) const {
  return static_cast<std::size_t>(std::ranges::count_if(by_content_, [&model](const auto& entry) {
    return model.find(entry.first) == Vocabulary::kNoId;
  }));
}

}  // namespace layard::tokenizer
