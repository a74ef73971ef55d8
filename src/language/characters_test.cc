#include "language/characters.h"

#include <gtest/gtest.h>

#include <string_view>

#include "language/characters_tables.h"

namespace layard::language {
namespace {

TEST(Characters, Class) {
  const auto check = [](char32_t c, CharacterClass expected) {
    EXPECT_EQ(character_class(c), expected) << std::hex << static_cast<unsigned>(c);
  };
  check(U'a', CharacterClass::kLetter);
  check(U'Z', CharacterClass::kLetter);
  check(U'\u00AA', CharacterClass::kLetter);  // ordinal indicators
  check(U'\u01C5', CharacterClass::kLetter);  // title case
  check(U'\u02B0', CharacterClass::kLetter);  // modifier
  check(U'\u0640', CharacterClass::kLetter);
  check(U'\u4E00', CharacterClass::kLetter);  // a letter with a numeric value
  check(U'\uAC00', CharacterClass::kLetter);
  check(U'\U0001D400', CharacterClass::kLetter);
  check(U'0', CharacterClass::kDigit);
  check(U'\u0660', CharacterClass::kDigit);
  check(U'\u00B2', CharacterClass::kNumber);
  check(U'\u00BD', CharacterClass::kNumber);
  check(U'\u2163', CharacterClass::kNumber);
  check(U'\u3007', CharacterClass::kNumber);
  check(U'\u0301', CharacterClass::kMark);
  check(U'\u094D', CharacterClass::kMark);
  check(U'\u093F', CharacterClass::kOther);  // marks of combining class 0
  check(U'\u0E34', CharacterClass::kOther);
  check(U'_', CharacterClass::kOther);
  check(U'\u24B6', CharacterClass::kOther);
  check(U'\uFFFD', CharacterClass::kOther);
  check(U'\uE000', CharacterClass::kOther);
  check(U'\U0001F44D', CharacterClass::kOther);
  check(0, CharacterClass::kOther);
  check(0xD800, CharacterClass::kOther);
  check(0x110000, CharacterClass::kOther);
  check(0xFFFFFFFF, CharacterClass::kOther);
  // Both sides of the border between the direct table and the search.
  check(0x24F, CharacterClass::kLetter);
  check(0x250, CharacterClass::kLetter);
  // Letters of Unicode 15.0, 15.1 and 16.0.
  check(0x31350, CharacterClass::kLetter);
  check(0x2EBF0, CharacterClass::kLetter);
  check(0x105C0, CharacterClass::kLetter);
}

TEST(Characters, AsManyLettersAsUnicode16) {
  std::size_t letters = 0;
  for (char32_t c = 0; c < 0x110000; ++c) letters += is_letter(c) ? 1 : 0;
  EXPECT_EQ(letters, 141'028U);
}

TEST(Characters, WordCharacters) {
  for (const char32_t c : std::u32string_view(U"a\u00E9\u00BD\u2163")) {
    EXPECT_TRUE(is_word_character(c)) << static_cast<unsigned>(c);
  }
  for (const char32_t c : std::u32string_view(U"0\u0660_-.\u0301 ")) {
    EXPECT_FALSE(is_word_character(c)) << static_cast<unsigned>(c);
  }
}

TEST(Characters, Capitals) {
  for (const char32_t c : {U'\u0394', U'\u0414', U'\u0410', U'\u0460', U'\u0531', U'\u10A0',
                           U'\u1F08', U'\uA640', U'\u03D2'}) {
    EXPECT_TRUE(is_capital(c)) << static_cast<unsigned>(c);
  }
  for (const char32_t c : {U'\u03B4', U'\u0434', U'\u0461', U'\u0561', U'\u10D0', U'\u1F88',
                           U'\u0371', U'\u05D0', U'\u4E00', U'A', U'0'}) {
    EXPECT_FALSE(is_capital(c)) << static_cast<unsigned>(c);
  }
}

TEST(Characters, Lower) {
  const auto check = [](char32_t c, char32_t expected) {
    EXPECT_EQ(lower(c), expected) << static_cast<unsigned>(c);
  };
  check(U'A', U'a');
  check(U'Z', U'z');
  check(U'@', U'@');
  check(U'[', U'[');
  check(U'a', U'a');
  check(U'\u00C9', U'\u00E9');
  check(U'\u00D7', U'\u00D7');  // a sign between capitals
  check(U'\u00DF', U'\u00DF');
  check(U'\u0102', U'\u0103');
  check(U'\u0103', U'\u0103');
  check(U'\u0130', U'i');
  check(U'\u0131', U'\u0131');
  check(U'\u0178', U'\u00FF');
  check(U'\u018F', U'\u0259');
  check(U'\u01C5', U'\u01C6');
  check(U'\u0218', U'\u0219');
  check(U'\u1E9E', U'\u00DF');
  check(U'\u212A', U'k');
  check(U'\u212B', U'\u00E5');
  check(U'\u0414', U'\u0414');  // nothing is listed in other scripts
  check(0x110000, 0x110000);
}

template <class Range>
void expect_ascending(std::span<const Range> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_LE(ranges[i].first, ranges[i].last) << i;
    if (i > 0) {
      EXPECT_LT(ranges[i - 1].last, ranges[i].first) << i;
    }
  }
}

TEST(Characters, TablesAreAscending) {
  expect_ascending(class_ranges());
  expect_ascending(capital_ranges());
  expect_ascending(lower_ranges());
}

}  // namespace
}  // namespace layard::language
