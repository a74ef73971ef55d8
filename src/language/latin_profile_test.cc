#include "language/latin_profile.h"

#include <gtest/gtest.h>

#include <string>

#include "language/words.h"

namespace layard::language {
namespace {

std::string language_of(std::u32string_view text) {
  const auto language = latin_profile(text).language;
  return language.has_value() ? std::string(word_lists()[*language].language) : "";
}

TEST(LatinProfile, Language) {
  const auto check = [](std::u32string_view text, std::string_view expected) {
    EXPECT_EQ(language_of(text), expected);
  };
  check(U"", "");
  check(U"the is of", "");  // three words
  check(U"the is of x", "en");
  check(U"the x y z", "en");  // one English word is enough
  check(U"w x y z", "");
  check(U"nicht w x y", "");  // one word of another language is not
  check(U"nicht oder x y", "de");
  check(U"NICHT Oder x y", "de");
  check(U"nicht nicht x y", "de");   // a word counts as often as it occurs
  check(U"nicht oder the y", "en");  // two more than English are needed
  check(U"nicht oder und the", "de");
  check(U"nicht oder und the of", "en");
  check(U"la la la la", "");       // words that several lists have name no language
  check(U"la la la merci", "fr");  // but count beside one that one list has
  check(U"merci nicht x y", "");
}

TEST(LatinProfile, TiesGoToTheEarlierList) {
  EXPECT_EQ(language_of(U"muy gracias bonjour merci"), "fr");
  EXPECT_EQ(language_of(U"zijn wordt anche grazie"), "it");
  EXPECT_EQ(language_of(U"trebuie sunt tumi valo"), "ro");
}

TEST(LatinProfile, ForeignLettersLowerTheBar) {
  const auto check = [](std::u32string_view text, std::string_view expected) {
    EXPECT_TRUE(latin_profile(text).looks_foreign());
    EXPECT_EQ(language_of(text), expected);
  };
  check(U"\u00FC nicht oder the", "de");  // as many as English, at least two
  check(U"\u00FC nicht oder the of", "de");
  check(U"\u00FC nicht oder the of and", "");  // fewer: neither is named
  check(U"\u00FC nicht x y", "");
  check(U"\u00FC the is of", "");
}

TEST(LatinProfile, ForeignLetterRate) {
  const auto rate = [](std::u32string_view text) {
    return latin_profile(text).foreign_letter_rate;
  };
  EXPECT_EQ(rate(U""), 0.0);
  EXPECT_EQ(rate(U"abc"), 0.0);
  EXPECT_EQ(rate(U"\u00E9abc"), 0.25);
  EXPECT_EQ(rate(U"\u00C9abc"), 0.25);        // capitals count
  EXPECT_EQ(rate(U"\u00E9 1."), 0.25);        // of all characters
  EXPECT_EQ(rate(U"a@\u00E9.c"), 0.2);        // also in identifiers
  EXPECT_EQ(rate(U"\u0130\u00E9"), 1.0 / 3);  // U+0130 is two characters in lower case
  EXPECT_EQ(rate(U"\u1E9Ea"), 0.5);
  const std::u32string fifty = U"\u00E9" + std::u32string(49, U'x');
  EXPECT_TRUE(latin_profile(fifty).looks_foreign());
  EXPECT_FALSE(latin_profile(fifty + U"x").looks_foreign());
}

TEST(LatinProfile, IsEnglish) {
  const auto check = [](std::u32string_view text, bool expected) {
    EXPECT_EQ(latin_profile(text).is_english(), expected);
  };
  check(U"", true);
  check(U"ok", true);
  check(U"the is of x", true);
  check(U"nicht oder x y", false);
  check(U"na\u00EFve", false);  // not named, but looks foreign
  check(U"\u00FC the is of", false);
}

TEST(LatinProfile, WordsOfIdentifiersDoNotCount) {
  const auto check = [](std::u32string_view text, std::string_view expected) {
    EXPECT_EQ(language_of(text), expected);
  };
  check(U"nicht.oder x y z", "");
  check(U"nicht oder x.y", "");  // at the end of the text too
  check(U"nicht@oder x y z", "");
  check(U".nicht oder x y z", "");  // a joint in front is enough
  check(U"nicht. oder x y", "de");  // the end of a sentence is none
  check(U"nicht.. oder x y", "de");
  check(U"nicht..oder x y z", "");  // the second dot joins
  check(U"x.nicht-oder y z w v", "");
  check(U"nicht-oder x y", "de");  // a hyphen alone joins nothing
  check(U"nicht_oder x y", "de");
  check(U"x.y@z.nicht oder a b c", "");
  check(U"a.b nicht oder c d", "de");
  check(U"v1.2.3 the is of x", "en");
  check(U"the.is of at", "");  // two words are left
}

TEST(LatinProfile, WordsEndAtDigitsAndMarks) {
  const auto check = [](std::u32string_view text, std::string_view expected) {
    EXPECT_EQ(language_of(text), expected);
  };
  check(U"nicht1oder x y", "de");
  check(U"1 2 3 nicht oder", "");            // digits are no words
  check(U"\u2163 \u00BD nicht oder", "de");  // other numbers are
  check(U"nicht\u00B2 oder x y", "");        // and lengthen a word
  check(U"nicht\u0301oder x y", "de");
  check(U"nicht'oder x y", "de");
  check(U"\u0130nicht oder nicht x", "de");  // `inicht`, and two that are listed
  check(U"\u0130m nicht x y", "de");         // `im`
}

TEST(LatinProfile, LongWords) {
  const std::u32string longest(4000, U'a');
  EXPECT_EQ(language_of(longest), "");
  EXPECT_EQ(language_of(longest + U" the x y"), "en");
  // 16 bytes is the most that is looked up; what is longer counts as a word all the same.
  EXPECT_EQ(
      language_of(std::u32string(16, U'a') + U" " + std::u32string(17, U'\u00E4') + U" nicht oder"),
      "de");
}

}  // namespace
}  // namespace layard::language
