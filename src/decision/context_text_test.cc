#include <gtest/gtest.h>

#include <string>

#include "layard/question.h"

namespace layard {
namespace {

TEST(ContextText, OnlyObjectsAndArraysAreJson) {
  const auto check = [](std::string_view text, std::string_view expected, bool keep_end) {
    const auto state = context_from_text(text);
    ASSERT_TRUE(state.ok()) << text;
    EXPECT_EQ(state->text, expected);
    EXPECT_EQ(state->keep_end, keep_end);
  };
  check("", "", false);
  check("123", "123", false);
  check("null", "null", false);
  check("\"quoted\"", "\"quoted\"", false);
  check("[not json", "[not json", false);
  check("{a} b", "{a} b", false);
  check("[1] and more", "[1] and more", false);
  check(" [1]", " [1]", false);
  check(R"({"a":1,"b":[2]})", R"({"a": 1, "b": [2]})", false);
  check(R"([{"role":"user","content":"hi"}])", R"([{"role": "user", "content": "hi"}])", true);
}

TEST(ContextText, Refused) {
  EXPECT_FALSE(context_from_text("\xFF\xFE").ok());
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const auto result = context_from_text(deep);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard
