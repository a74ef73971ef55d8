#include "tokenizer/pretokenizer/word_split.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::tokenizer {
namespace {

void check(std::string_view text, const std::vector<std::string>& expected) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = gpt2_word_end(text, begin, CharClasses::get());
    ASSERT_GT(end, begin);
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(words, expected);
}

TEST(WordSplit, MatchesGpt2Pattern) {
  check("Hello world", {"Hello", " world"});
  check("a  b", {"a", " ", " b"});
  check("a \n b", {"a", " \n", " b"});
  check("a\nb", {"a", "\n", "b"});
  check("a\n\nb", {"a", "\n", "\n", "b"});
  check("a   ", {"a", "   "});
  check("   ", {"   "});
  check("a\u3000\u3000b", {"a", "\u3000", "\u3000", "b"});
  check("it's we'll 'S", {"it", "'s", " we", "'ll", " '", "S"});
  check("'''s", {"'''", "s"});
  check("'re'ref'l", {"'re", "'re", "f", "'", "l"});
  check("don't!", {"don", "'t", "!"});
  check("abc123 45,6", {"abc", "123", " 45", ",", "6"});
  check("\u00e9t\u00e9 \u0663\u0664\u00bd", {"\u00e9t\u00e9", " \u0663\u0664\u00bd"});
  check("e\u0301x", {"e", "\u0301", "x"});
  check(" \u00a0a", {" ", "\u00a0", "a"});
  check("...'s", {"...'", "s"});
  check("\U0001F600 \U0001F600", {"\U0001F600", " \U0001F600"});
  check("'", {"'"});
}

}  // namespace
}  // namespace layard::tokenizer
