#include "tokenizer/unicode/char_classes.h"

#include <gtest/gtest.h>

namespace layard::tokenizer {
namespace {

// Facts about single characters in the package; the whole table is compared by the differential
// test.
TEST(CharClasses, KnowsCharacters) {
  struct Row {
    char32_t code_point;
    std::uint16_t has;
    std::uint16_t lacks;
  };
  const Row rows[] = {
      {U'a', kLetter | kWord, kNumber | kSpace | kPunctuation | kLowers},
      {U'A', kLetter | kLowers, kNumber},
      {U'7', kNumber | kNumeric | kWord, kLetter},
      {U' ', kSpace, kOther | kWord},
      {U'\n', kSpace, kWord | kOther},
      {U'_', kPunctuation | kWord, kLetter},
      {U'$', kPunctuation, kWord},
      {U'\u20AC', 0, kPunctuation | kWord | kLetter},
      {U'\u00A0', kSpace, kOther},
      {U'\u200B', kOther, kSpace},
      {U'\u0301', kNonspacing | kCombining | kNonStarter, kNfcInert},
      {U'\u00E9', kCanonical | kCompatible | kNfcInert, kNonStarter},
      {U'\uFB01', kCompatible, kCanonical},
      {U'\u1161', 0, kNfcInert},                 // joins a leading consonant
      {U'\u11A7', kNfcInert, 0},                 // joins nothing
      {U'\U00011938', kNfcInert, kCanonical},    // younger than the package's normal forms
      {U'\u0378', 0, kLetter | kOther | kWord},  // not assigned
      {U'\U0010FFFF', 0, kLetter | kSpace},
  };
  const CharClasses& classes = CharClasses::get();
  for (const Row& row : rows) {
    const std::uint16_t bits = classes(row.code_point);
    EXPECT_EQ(bits & row.has, row.has) << std::hex << static_cast<unsigned>(row.code_point);
    EXPECT_EQ(bits & row.lacks, 0) << std::hex << static_cast<unsigned>(row.code_point);
  }
}

void check_lower(char32_t code_point, std::string_view expected) {
  std::string out;
  CharClasses::get().append_lower(out, code_point);
  EXPECT_EQ(out, expected) << std::hex << static_cast<unsigned>(code_point);
}

TEST(CharClasses, Lowers) {
  check_lower(U'A', "a");
  check_lower(U'a', "a");
  check_lower(U'\u0130', "i\u0307");
  check_lower(U'\u0178', "\u00FF");
  check_lower(U'\u0102', "\u0103");
  check_lower(U'\u0103', "\u0103");
  check_lower(U'\u01C5', "\u01C6");
  check_lower(U'\u03A3', "\u03C3");  // no final form: each character alone
  check_lower(U'\u1E9E', "\u00DF");
  check_lower(U'\u212A', "k");
  check_lower(U'\u13A0', "\uAB70");
  check_lower(U'\U00010D50', "\U00010D70");
}

TEST(CharClasses, FindsSpaceAtTheEnds) {
  const CharClasses& classes = CharClasses::get();
  EXPECT_EQ(classes.leading_space_end(" \u3000\tx "), 5U);
  EXPECT_EQ(classes.leading_space_end("x"), 0U);
  EXPECT_EQ(classes.leading_space_end("  "), 2U);
  EXPECT_EQ(classes.trailing_space_begin(" x\u3000\n"), 2U);
  EXPECT_EQ(classes.trailing_space_begin("\u2003"), 0U);
  EXPECT_EQ(classes.trailing_space_begin("\u00E9"), 2U);
  EXPECT_EQ(classes.trailing_space_begin(""), 0U);
}

TEST(Utf8Walk, GoesBothWays) {
  const std::string_view text = "a\u00E9\u20AC\U0001F600";
  const char32_t expected[] = {U'a', U'\u00E9', U'\u20AC', U'\U0001F600'};
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    EXPECT_EQ(c.code_point, expected[starts.size()]);
    starts.push_back(i);
    i += c.bytes;
  }
  std::size_t at = text.size();
  for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
    at = previous_char(text, at);
    EXPECT_EQ(at, *start);
  }
}

TEST(Utf8Walk, FindsTheEndOfAscii) {
  for (std::size_t ascii = 0; ascii < 40; ++ascii) {
    EXPECT_EQ(ascii_prefix(std::string(ascii, 'a')), ascii);
    EXPECT_EQ(ascii_prefix(std::string(ascii, 'a') + "\u00E9bcdefghijklm"), ascii);
  }
}

}  // namespace
}  // namespace layard::tokenizer
