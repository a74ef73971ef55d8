#include "language/words.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

#include "language/characters.h"

namespace layard::language {
namespace {

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> out(1);
  for (const char c : words) {
    if (c == ' ') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

TEST(Words, ListsInOrder) {
  const std::pair<const char*, std::size_t> expected[] = {
      {"en", 34}, {"fr", 67}, {"de", 63}, {"es", 65}, {"pt", 107},
      {"it", 85}, {"nl", 19}, {"ro", 27}, {"bn", 98}, {"az", 40}};
  ASSERT_EQ(word_lists().size(), std::size(expected));
  for (std::size_t i = 0; i < kLanguages; ++i) {
    const auto words = split(word_lists()[i].words);
    EXPECT_EQ(word_lists()[i].language, expected[i].first);
    EXPECT_EQ(words.size(), expected[i].second) << expected[i].first;
    EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size())
        << expected[i].first;
    for (const std::string& word : words) {
      EXPECT_FALSE(word.empty()) << expected[i].first;
      EXPECT_LE(word.size(), kWordBytesMax) << word;
      EXPECT_NE(languages_of(word) & (1U << i), 0U) << word;
    }
  }
}

TEST(Words, LanguagesOf) {
  const auto languages = [](std::string_view word) {
    std::string names;
    for (std::size_t i = 0; i < kLanguages; ++i) {
      if ((languages_of(word) >> i & 1U) != 0) names += std::string(word_lists()[i].language) + " ";
    }
    return names;
  };
  EXPECT_EQ(languages("the"), "en ");
  EXPECT_EQ(languages("was"), "en de ");
  EXPECT_EQ(languages("que"), "fr es pt ");
  EXPECT_EQ(languages("is"), "en nl ");
  EXPECT_EQ(languages("été"), "");
  EXPECT_EQ(languages("être"), "fr ");
  EXPECT_EQ(languages("artıq"), "az ");
  EXPECT_EQ(languages(""), "");
  EXPECT_EQ(languages("The"), "");
  EXPECT_EQ(languages("the "), "");
}

TEST(Words, AsManySharedWordsAsUpstreamCounts) {
  std::set<std::string> shared;
  for (const WordList& list : word_lists()) {
    for (const std::string& word : split(list.words)) {
      if (std::popcount(languages_of(word)) > 1) shared.insert(word);
    }
  }
  EXPECT_EQ(shared.size(), 38U);
}

TEST(Words, ForeignLetters) {
  std::size_t count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (!is_foreign_letter(c)) continue;
    ++count;
    EXPECT_EQ(lower(c), c) << static_cast<unsigned>(c);
  }
  EXPECT_EQ(count, 67U);
  for (const char32_t c : {U'\u00DF', U'\u00E9', U'\u0131', U'\u0219', U'\u0259'}) {
    EXPECT_TRUE(is_foreign_letter(c)) << static_cast<unsigned>(c);
  }
  for (const char32_t c : {U'a', U'\u00C9', U'\u00F0', U'\u00FE', U'\u00F7', U'\u025B'}) {
    EXPECT_FALSE(is_foreign_letter(c)) << static_cast<unsigned>(c);
  }
}

}  // namespace
}  // namespace layard::language
