#include "language/scripts.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::language {
namespace {

TEST(Scripts, EveryLetterHasOne) {
  const auto check = [](char32_t letter, std::string_view expected) {
    EXPECT_EQ(script_name(letter_script(letter)), expected) << static_cast<unsigned>(letter);
  };
  check(U'a', "latin");
  check(U'\u00E9', "latin");
  check(U'\u0250', "latin");  // phonetic letters, up to U+02AF
  check(U'\u02AF', "latin");
  check(U'\u02B0', "other");
  check(U'\u1E00', "latin");
  check(U'\u1EFF', "latin");
  check(U'\uFF21', "latin");
  check(U'\uFF5A', "latin");
  check(U'\u212A', "other");  // the kelvin sign
  check(U'\u03B1', "greek");
  check(U'\u1F00', "greek");
  check(U'\u0431', "cyrillic");
  check(U'\uA640', "cyrillic");
  check(U'\u0561', "armenian");
  check(U'\u05D0', "hebrew");
  check(U'\u0627', "arabic");
  check(U'\uFEFC', "arabic");
  check(U'\u0905', "devanagari");
  check(U'\u0985', "bengali");
  check(U'\u0A05', "gurmukhi");
  check(U'\u0A85', "gujarati");
  check(U'\u0B05', "oriya");
  check(U'\u0B85', "tamil");
  check(U'\u0C05', "telugu");
  check(U'\u0C85', "kannada");
  check(U'\u0D05', "malayalam");
  check(U'\u0D85', "sinhala");
  check(U'\u0E01', "thai");
  check(U'\u0E81', "lao");
  check(U'\u0F40', "tibetan");
  check(U'\u1000', "myanmar");
  check(U'\u10D0', "georgian");
  check(U'\u1200', "ethiopic");
  check(U'\u1780', "khmer");
  check(U'\u1100', "hangul");
  check(U'\uAC00', "hangul");
  check(U'\u3042', "kana");
  check(U'\u30A2', "kana");
  check(U'\u4E00', "han");
  check(U'\u3400', "han");
  check(U'\U00020000', "other");  // no block is listed behind the first plane
  check(U'\uFF71', "other");      // half-width kana
  check(U'\u13A0', "other");      // Cherokee
  check(U'\U0001D400', "other");
}

TEST(Scripts, Blocks) {
  const auto check = [](char32_t c, std::string_view expected) {
    const auto script = block_script(c);
    EXPECT_EQ(script.has_value() ? script_name(*script) : "", expected) << static_cast<unsigned>(c);
  };
  check(0, "");
  check(0x36F, "");
  check(0x370, "greek");
  check(0x3FF, "greek");
  check(0x400, "cyrillic");
  check(0x52F, "cyrillic");
  check(0x530, "armenian");
  check(0x700, "");
  check(0x74F, "");
  check(0x750, "arabic");
  check(0xFEFF, "arabic");
  check(0xFF00, "");
  check(0x0964, "devanagari");  // punctuation of a block belongs to it
  check(0x10FFFF, "");
}

TEST(Scripts, Counts) {
  const ScriptCounts counts = count_scripts(U"ab1 \u03B1\u0431\u0431 !\u0301");
  EXPECT_EQ(counts.letters, 5U);
  EXPECT_EQ(counts.latin, 2U);
  ASSERT_EQ(counts.others.size(), 2U);
  EXPECT_EQ(counts.others[0].script, Script::kGreek);
  EXPECT_EQ(counts.others[0].letters, 1U);
  EXPECT_EQ(counts.others[1].script, Script::kCyrillic);
  EXPECT_EQ(counts.others[1].letters, 2U);
  EXPECT_EQ(counts.non_latin_fraction(), 0.6);
  EXPECT_EQ(counts.largest_other()->script, Script::kCyrillic);
}

TEST(Scripts, CountsOfNothing) {
  for (const auto* text : {U"", U"12345 !!!", U"\U0001F44D", U"\u0301\u0302", U"\uFFFD"}) {
    const ScriptCounts counts = count_scripts(text);
    EXPECT_EQ(counts.letters, 0U);
    EXPECT_EQ(counts.non_latin_fraction(), 0.0);
    EXPECT_FALSE(counts.largest_other().has_value());
  }
  EXPECT_FALSE(count_scripts(U"abc").largest_other().has_value());
}

TEST(Scripts, TheFirstOfEquallyLargeScriptsIsTheLargest) {
  EXPECT_EQ(count_scripts(U"\u0431\u03B1").largest_other()->script, Script::kCyrillic);
  EXPECT_EQ(count_scripts(U"\u03B1\u0431").largest_other()->script, Script::kGreek);
}

TEST(Scripts, FractionHasFourDecimals) {
  EXPECT_EQ(count_scripts(U"ab\u03B1").non_latin_fraction(), 0.3333);
  EXPECT_EQ(count_scripts(std::u32string(19999, U'a') + U"\u03B1").non_latin_fraction(), 0.0);
  EXPECT_EQ(count_scripts(std::u32string(9999, U'a') + U"\u03B1").non_latin_fraction(), 0.0001);
}

TEST(Scripts, NonLatinWords) {
  const auto check = [](std::u32string_view text, bool expected) {
    EXPECT_EQ(has_non_latin_word(text), expected);
  };
  check(U"", false);
  check(U"abc", false);
  check(U"\u03B1", false);         // a symbol
  check(U"\u03B1 \u03B2", false);  // two of them
  check(U"\u03B1\u03B2", true);
  check(U"\u03B1x\u03B2", false);  // Latin between
  check(U"\u03B1\u0431", false);   // two scripts
  check(U"\u03B11\u03B2", false);  // a digit of no listed block
  check(U"\u03B1-\u03B2", false);
  check(U"\u0414\u043C\u0438", false);  // a name
  check(U"\u0414\u043C\u0438 \u043C\u0438", true);
  check(U"\u0430\u0414", true);              // only the first letter counts
  check(U"\u0438\u0306", false);             // one letter and its mark
  check(U"\u0301\u0438\u0306\u0438", true);  // marks are passed over
  check(U"\u0939\u093F", true);              // a mark of combining class 0 is a character
  check(U"\u0967\u0968", true);              // digits of a listed block too
  check(U"\uFF71\uFF72", false);             // no listed block
  check(U"\u0250\u0251\u02B0", false);       // phonetic letters
  check(U"\u6CE8\u6587", true);
  check(U"\u1F88\u03B1", true);  // title case is no capital
}

}  // namespace
}  // namespace layard::language
