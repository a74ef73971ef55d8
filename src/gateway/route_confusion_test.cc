#include "gateway/route_confusion.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(RouteConfusion, SharesOfALabelsAnswers) {
  for (const char* text : {R"({"prose": {"prose": 41, "short": 9}, "code": {"code": 0}})",
                           R"({"accuracy": 1, "confusion": {"prose": {"prose": 41, "short": 9},
                               "code": {"code": 0}}})"}) {
    const auto confusion = parse_confusion(text, "eval.json");
    ASSERT_TRUE(confusion.ok()) << confusion.error().message;
    EXPECT_DOUBLE_EQ(confusion->taken("prose", "short"), 0.18);
    EXPECT_DOUBLE_EQ(confusion->taken("prose", "prose"), 0.82);
    EXPECT_EQ(confusion->taken("prose", "code"), 0);
    EXPECT_EQ(confusion->taken("code", "code"), 1);
    EXPECT_EQ(confusion->taken("short", "short"), 1);
    EXPECT_EQ(confusion->taken("short", "prose"), 0);
  }
}

TEST(RouteConfusion, OthersAreRefused) {
  for (const char* text : {"[]", "{", R"({"a": 1})", R"({"a": {"b": -1}})", R"({"a": {"b": "1"}})",
                           R"({"confusion": 3})"}) {
    const auto confusion = parse_confusion(text, "eval.json");
    ASSERT_FALSE(confusion.ok()) << text;
    EXPECT_NE(confusion.error().message.find("eval.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::gateway
