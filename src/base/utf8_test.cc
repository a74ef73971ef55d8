#include "base/utf8.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

TEST(Utf8, Validity) {
  for (const char* good :
       {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "a\xFFz"}) {
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
  }
}

TEST(Utf8, EveryCodePointRoundTrips) {
  for (char32_t cp = 0; cp <= 0x10FFFF; ++cp) {
    if (cp >= 0xD800 && cp <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, cp);
    const Utf8Step step = decode_utf8(text, 0);
    ASSERT_EQ(step.code_point, cp);
    ASSERT_EQ(step.bytes, text.size());
    ASSERT_EQ(count_code_points(text), 1U);
  }
  std::string text;
  append_utf8(text, 0xD800);
  EXPECT_EQ(decode_utf8(text, 0).code_point, 0xFFFDU);
}

TEST(Utf8, DecodingAnyBytesEnds) {
  const std::string bytes = "a\xE2\x82\xFF\xC3";
  std::size_t steps = 0;
  for (std::size_t i = 0; i < bytes.size(); i += decode_utf8(bytes, i).bytes) ++steps;
  EXPECT_EQ(steps, 5U);
  EXPECT_EQ(decode_utf8(bytes, bytes.size()).bytes, 0U);
}

}  // namespace
}  // namespace layard::base
