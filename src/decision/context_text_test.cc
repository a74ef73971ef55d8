#include <gtest/gtest.h>

#include <string>

#include "layard/question.h"

namespace layard {
namespace {

TEST(ContextText, OnlyObjectsAndArraysAreJson) {
  const auto check = [](std::string_view text, std::string_view expected, bool keep_end,
                        bool json) {
    const auto state = context_from_text(text);
    ASSERT_TRUE(state.ok()) << text;
    EXPECT_EQ(state->text, expected);
    EXPECT_EQ(state->keep_end, keep_end);
    EXPECT_EQ(state->json, json);
  };
  check("", "", false, false);
  check("123", "123", false, false);
  check("null", "null", false, false);
  check("\"quoted\"", "\"quoted\"", false, false);
  check("[not json", "[not json", false, false);
  check("{a} b", "{a} b", false, false);
  check("[1] and more", "[1] and more", false, false);
  check(" [1]", " [1]", false, false);
  check(R"({"a":1,"b":[2]})", R"({"a": 1, "b": [2]})", false, true);
  check(R"([{"role":"user","content":"hi"}])", R"([{"role": "user", "content": "hi"}])", true,
        true);
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
