#include "tokenizer/added_tokens/byte_trie.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::tokenizer {
namespace {

void check(const ByteTrie& trie, std::string_view text, std::size_t from,
           const ByteTrie::Match& expected) {
  const ByteTrie::Match match = trie.find(text, from);
  EXPECT_EQ(match.value, expected.value) << text;
  EXPECT_EQ(match.begin, expected.begin) << text;
  EXPECT_EQ(match.end, expected.end) << text;
}

TEST(ByteTrie, FindsTheLeftmostLongest) {
  ByteTrie trie;
  EXPECT_TRUE(trie.empty());
  check(trie, "abc", 0, {});
  EXPECT_TRUE(trie.insert("ab", 1));
  EXPECT_TRUE(trie.insert("abcd", 2));
  EXPECT_TRUE(trie.insert("bc", 3));
  EXPECT_TRUE(trie.insert("\u00e9", 4));
  EXPECT_TRUE(trie.insert("x", 5));
  EXPECT_FALSE(trie.insert("bc", 6));
  EXPECT_FALSE(trie.empty());
  check(trie, "zabcd", 0, {1, 5, 2});
  check(trie, "zabce", 0, {1, 3, 1});
  check(trie, "zabce", 2, {2, 4, 3});
  check(trie, "a\u00e9", 0, {1, 3, 4});
  check(trie, "aax", 0, {2, 3, 5});
  check(trie, "aaa", 0, {});
  check(trie, "", 0, {});
  check(trie, "ab", 2, {});
}

}  // namespace
}  // namespace layard::tokenizer
