#include "decision/order_json.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::decision {
namespace {

constexpr CodecOptions kCompact{false, JsonLayout::kCompact};

TEST(OrderJson, Requests) {
  const auto check = [](const std::string& members, std::optional<int> expected) {
    const auto request = parse_request(R"({"state":"a","questions":{})" + members + "}", {});
    ASSERT_TRUE(request.ok()) << members << ": " << request.error().message;
    EXPECT_EQ(request->orders, expected) << members;
    EXPECT_TRUE(request->warnings.empty()) << members;
  };
  check("", std::nullopt);
  check(R"(,"orders":null,"stability":null)", std::nullopt);
  check(R"(,"orders":1)", 1);
  check(R"(,"orders":24)", 24);
  check(R"(,"stability":true)", 2);
  check(R"(,"stability":false)", 1);
  check(R"(,"stability":true,"orders":null)", 2);
}

TEST(OrderJson, RefusedRequests) {
  const auto check = [](const std::string& members, const std::string& expected) {
    const auto request = parse_request(R"({"state":"a","questions":{},)" + members + "}", {});
    ASSERT_FALSE(request.ok()) << members;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(request.error().message, expected);
  };
  for (const std::string value :
       {"0", "25", "-2", "2.0", "true", "\"2\"", "[2]", "1.5", "99999999999999999999"}) {
    check("\"orders\":" + value, "'orders' must be a whole number from 1 to 24, got " + value);
  }
  for (const std::string value : {"1", "\"yes\"", "{}"}) {
    check("\"stability\":" + value, "'stability' must be true or false, got " + value);
  }
  check(R"("orders":2,"stability":true)",
        "'stability' is short for 'orders' 2; send only one of them");
}

TEST(OrderJson, ASlipIsNamed) {
  const auto request = parse_request(R"({"state":"a","questions":{},"order":2})", {});
  ASSERT_TRUE(request.ok());
  const std::string expected = R"(nothing reads the member "order"; did you mean "orders"?)";
  EXPECT_EQ(request->warnings, std::vector<std::string>{expected});
}

TEST(OrderJson, StabilityGoesThereAndBack) {
  AnswerSet set;
  set.warnings = {"w"};
  set.extra = {{"routing", "{}"}, {"stability", "1"}};  // the second one's place is taken
  set.stability = {
      {"team",
       3,
       {{"refund", "refund", "\"refund\""}, {"2.5", "2.5", "2.5"}, {"True", "true", "true"}},
       0.3333,
       0.125},
      {"urgent", 1, {}, 1, 0}};
  const std::string json = print_answers(set, kCompact);
  EXPECT_EQ(json,
            R"({"model":"laya-rl-agent","answers":{},"usage":{"input_tokens":0,"output_tokens":0},)"
            R"("warnings":["w"],"stability":{"team":{"orders":3,"agreement":0.3333,"spread":0.125,)"
            R"("choices":["refund",2.5,true]},"urgent":{"orders":1}},"routing":{}})");
  const auto read = parse_answers(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  set.extra.pop_back();
  EXPECT_EQ(*read, set);
}

TEST(OrderJson, MalformedStabilityIsRefused) {
  const auto check = [](const std::string& value, const std::string& expected) {
    const auto read = parse_answers(
        R"({"model":"m","answers":{},"usage":{"input_tokens":0,"output_tokens":0},"stability":)" +
        value + "}");
    ASSERT_FALSE(read.ok()) << value;
    EXPECT_EQ(read.error().message, expected);
  };
  check("3", "stability must be an object");
  check(R"({"q":3})", "stability/q must be an object");
  check(R"({"q":{}})", "stability/q/orders must be an integer");
  check(R"({"q":{"orders":2,"choices":["a"]}})", "stability/q/agreement must be a number");
  check(R"({"q":{"orders":2,"agreement":1,"spread":0,"choices":[[]]}})",
        "stability/q/choices must be an array of labels");
}

}  // namespace
}  // namespace layard::decision
