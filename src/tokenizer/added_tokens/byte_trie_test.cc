#include "tokenizer/added_tokens/byte_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <random>
#include <string>

namespace layard::tokenizer {

void PrintTo(const ByteTrie::Match& match, std::ostream* out) {
  *out << match.begin << "+" << match.bytes << "=" << match.value;
}

namespace {

using Matches = std::vector<ByteTrie::Match>;

ByteTrie trie_of(const std::vector<std::string>& texts) {
  ByteTrie trie;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(trie.insert(texts[i], static_cast<std::int32_t>(i))) << texts[i];
  }
  trie.finish();
  return trie;
}

// The same by the definition: every text is tried at every place.
Matches tried(const std::vector<std::string>& texts, std::string_view text) {
  Matches matches;
  for (std::size_t i = text.size(); i-- > 0;) {
    ByteTrie::Match longest;
    for (std::size_t k = 0; k < texts.size(); ++k) {
      if (text.substr(i).starts_with(texts[k]) && texts[k].size() > longest.bytes) {
        longest = {i, static_cast<std::uint32_t>(texts[k].size()), static_cast<std::int32_t>(k)};
      }
    }
    if (longest.value >= 0) matches.push_back(longest);
  }
  return matches;
}

TEST(ByteTrie, FindsTheLongestAtEveryPlace) {
  const ByteTrie trie = trie_of({"ab", "abcd", "bc", "\u00e9", "x"});
  EXPECT_EQ(trie.find_all("zabcd"), (Matches{{2, 2, 2}, {1, 4, 1}}));
  EXPECT_EQ(trie.find_all("zabce"), (Matches{{2, 2, 2}, {1, 2, 0}}));
  EXPECT_EQ(trie.find_all("a\u00e9"), (Matches{{1, 2, 3}}));
  EXPECT_EQ(trie.find_all("xax"), (Matches{{2, 1, 4}, {0, 1, 4}}));
  EXPECT_EQ(trie.find_all("aaa"), Matches());
  EXPECT_EQ(trie.find_all(""), Matches());
}

TEST(ByteTrie, EmptyAndRepeated) {
  ByteTrie trie;
  EXPECT_TRUE(trie.empty());
  EXPECT_EQ(trie.find_all("abc"), Matches());
  EXPECT_TRUE(trie.insert("bc", 3));
  EXPECT_FALSE(trie.insert("bc", 6));
  EXPECT_FALSE(trie.empty());
}

// Few letters, so that texts overlap, repeat and contain one another in every way.
TEST(ByteTrie, EqualsTheDefinition) {
  std::mt19937 random(11);
  const auto word = [&random](std::size_t bytes_max) {
    std::string text(1 + random() % bytes_max, '\0');
    std::ranges::generate(text, [&random] { return "abc"[random() % 3]; });
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> texts(1 + random() % 8);
    std::ranges::generate(texts, [&] { return word(6); });
    std::ranges::sort(texts);
    const auto repeated = std::ranges::unique(texts);
    texts.erase(repeated.begin(), repeated.end());
    const std::string text = word(40);
    EXPECT_EQ(trie_of(texts).find_all(text), tried(texts, text)) << text;
  }
}

// A text that almost matches everywhere: trying it at every place takes a million million steps.
TEST(ByteTrie, LongTextsStayLinear) {
  const std::string almost(1'000'000, 'a');
  const ByteTrie trie = trie_of({almost + "b", "b" + almost, "aaa"});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(trie.find_all(almost).size(), almost.size() - 2);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace layard::tokenizer
