#include "base/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "support/small_stack.h"

namespace layard::base {
namespace {

std::string round_trip(std::string_view text) {
  const auto parsed = parse_json(text, {});
  return parsed.ok() ? write_json(*parsed, JsonStyle::kPython) : "error: " + parsed.error().message;
}

void check(std::string_view input, std::string_view expected) {
  EXPECT_EQ(round_trip(input), expected) << input;
}

void check_refused(std::string_view input, std::string_view part) {
  const auto parsed = parse_json(input, {});
  ASSERT_FALSE(parsed.ok()) << input.substr(0, 80);
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(parsed.error().message.find(part), std::string::npos) << parsed.error().message;
}

TEST(Json, WritesLikePython) {
  check("1.0", "1.0");
  check("[1e16,1e-7,1E5,-0.0,1e22,0.1,1e-4,123456789012345678901234567890,-0]",
        "[1e+16, 1e-07, 100000.0, -0.0, 1e+22, 0.1, 0.0001, 123456789012345678901234567890, 0]");
  check(R"({"b":1,"a":2,"b":3})", R"({"b": 3, "a": 2})");
  check(R"("\/\u0007\u007f\u2028\u00e9\"\\\b\f\n\r\t")",
        "\"/\\u0007\x7f\u2028\u00e9\\\"\\\\\\b\\f\\n\\r\\t\"");
  check("[ ]", "[]");
  check("{ }", "{}");
  check(" [true,false,null,{\"x\":[[]]}] ", R"([true, false, null, {"x": [[]]}])");
  check("\"\\u0000a\"", "\"\\u0000a\"");
  check("\"\\ud83d\\ude00\"", "\"\U0001F600\"");
  check("\xEF\xBB\xBF{}", "{}");
  check("1e400", "Infinity");
  check("1e-400", "0.0");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* bad : {"",
                          " ",
                          "{",
                          "[",
                          "[1,]",
                          "{\"a\"}",
                          "{\"a\":}",
                          "{a:1}",
                          "[1 2]",
                          "01",
                          "1.",
                          ".5",
                          "+1",
                          "1e",
                          "--1",
                          "nul",
                          "truee",
                          "tru",
                          "[nullx]",
                          "{} {}",
                          "[] 1",
                          "1 2",
                          "\"a\" \"b\"",
                          "\"a",
                          "'a'",
                          "[1}",
                          "{\"a\":1]",
                          "\"\\x\"",
                          "\"\x01\"",
                          "]",
                          "}",
                          ",",
                          "{,}",
                          "[,1]",
                          "{\"a\":1,}",
                          "\"\\u12\"",
                          "[1,2",
                          "{\"a\":[1,2}",
                          "-",
                          "nulll",
                          "[tru]",
                          "true false"}) {
    check_refused(bad, "");
  }
  check_refused("[NaN]", "NaN and Infinity are not JSON");
  check_refused("{\"a\":-Infinity}", "/a");
  check_refused("\"\\ud800\"", "surrogate");
  check_refused("{\"a\":\"\\udc00x\"}", "surrogate");
  check_refused("\"\xff\"", "");
  check_refused("{\"a\":[0,{\"b\":zzz}]}", "/a/1/b");
  check_refused("[" + std::string(4301, '1') + "]", "4300 digits");
}

// What write_json makes of a number out of range can be read again on request, and only that.
TEST(Json, InfinitiesOnRequest) {
  JsonLimits limits;
  limits.infinities = true;
  for (const char* number : {"1e999", "-1e999", "[1e999]", "[-1e999, 1, \"a\"]", "{\"a\":1e999}"}) {
    const auto value = parse_json(number, {});
    ASSERT_TRUE(value.ok()) << number;
    const std::string written = write_json(*value, JsonStyle::kPython);
    EXPECT_FALSE(parse_json(written, {}).ok()) << written;
    const auto again = parse_json(written, limits);
    ASSERT_TRUE(again.ok()) << written << ": " << again.error().message;
    EXPECT_EQ(write_json(*again, JsonStyle::kPython), written);
  }
  for (const char* bad :
       {"NaN", "Infinit", "Infinityy", "--Infinity", "[+Infinity]", "{Infinity:1}"}) {
    EXPECT_FALSE(parse_json(bad, limits).ok()) << bad;
  }
}

TEST(Json, DepthIsBounded) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += open;
    check_refused(deep, "");
  }
  const std::string closed = std::string(100000, '[') + std::string(100000, ']');
  check_refused(closed, "nested deeper than 512 levels");
  const std::string fits = std::string(512, '[') + std::string(512, ']');
  EXPECT_TRUE(parse_json(fits, {}).ok());
  check_refused(std::string(513, '[') + std::string(513, ']'), "512");
}

TEST(Json, DeepValuesBuiltByHandAreSafe) {
  JsonValue value;
  for (int i = 0; i < 200000; ++i) {
    JsonValue outer = JsonValue::array();
    outer.push_back(std::move(value));
    value = std::move(outer);
  }
  const JsonValue copy = value;
  EXPECT_EQ(write_json(copy, JsonStyle::kCompact).size(), 200000U * 2 + 4);
}

// A thread of a server or of another language may have little stack.
TEST(Json, DepthDoesNotCostStack) {
  for (const bool objects : {false, true}) {
    testing::run_on_small_stack([objects] {
      const std::string text = testing::nested_json(512, objects);
      const auto parsed = parse_json(text, {});
      ASSERT_TRUE(parsed.ok()) << parsed.error().message;
      const JsonValue copy = *parsed;
      JsonValue assigned = JsonValue::array();
      assigned = copy;
      EXPECT_EQ(write_json(assigned, JsonStyle::kCompact), text);
      EXPECT_FALSE(write_json(assigned, JsonStyle::kIndent1).empty());
      EXPECT_EQ(parse_json(testing::nested_json(513, objects), {}).error().code,
                ErrorCode::kInvalidRequest);
    });
  }
}

// What stands in front of a fault, and where it is, at every kind of step.
TEST(Json, FaultsAreLocated) {
  check_refused("[1,[2,3,x]]", "JSON at line 1, column 9 (/1/2): not a JSON value");
  check_refused("[[],[],]", "JSON at line 1, column 7 (/2): a comma");
  check_refused("[1\n 2]", "JSON at line 2, column 2 (/0): a comma is missing");
  check_refused("{\"a\":{\"b\":[1,{\"c\" 1}]}}", "JSON at line 1, column 19 (/a/b/1/c): ");
  check_refused("{\"a\":[0],\"b\":{1:2}}", "JSON at line 1, column 15 (/b): ");
  check_refused("{\"a\":[0,[\"\\x\"]]}", "JSON at line 1, column 11 (/a/1/0): a bad escape");
  check_refused("[{}] []", "JSON at line 1, column 6: unexpected text after the JSON document");
  check_refused("\xEF\xBB\xBF{a}", "JSON at line 1, column 2: the name a needs double quotes");
  check_refused("{\"a\": \"b}", "JSON at line 1, column 7 (/a): the double quote here");
}

std::string many_keys(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += i > 0 ? ",\"k" : "\"k";
    text += std::to_string(i);
    text += "\":1";
  }
  return text + "}";
}

// The quickest of five, in processor time: what the parse takes, not what else the machine is
// doing.
double quickest_ms(const std::string& text, const JsonLimits& limits) {
  double quickest = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    const auto parsed = parse_json(text, limits);
    const std::clock_t elapsed = std::clock() - start;
    EXPECT_EQ(parsed.ok(), limits.members_max >= 190000);
    quickest = std::min(quickest, 1000.0 * static_cast<double>(elapsed) / CLOCKS_PER_SEC);
  }
  return quickest;
}

// The promise is for a release build; debug builds and sanitizers are some ten times slower.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double kSlowerBuild = 1;
#else
constexpr double kSlowerBuild = 50;
#endif

TEST(Json, ManyKeysStayLinear) {
  const std::string text = many_keys(190000);
  JsonLimits limits;
  limits.members_max = 200000;
  const auto parsed = parse_json(text, limits);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->size(), 190000U);
  EXPECT_NE(parsed->find("k189999"), nullptr);
  EXPECT_EQ(parsed->find("k190000"), nullptr);
  EXPECT_LT(quickest_ms(text, limits), 500 * kSlowerBuild);  // a quadratic parse takes minutes
}

TEST(Json, TooManyKeysAreRefusedQuickly) {
  const std::string text = many_keys(190000);
  check_refused(text, "JSON at the top level: more than 65536 members");
  check_refused("{\"a\":[" + text + "]}", "JSON at /a/0: more than 65536 members");
  EXPECT_LT(quickest_ms(text, {}), 100 * kSlowerBuild);
  EXPECT_TRUE(parse_json(many_keys(65536), {}).ok());
}

TEST(Json, LimitsAreNamed) {
  JsonLimits limits;
  limits.nodes_max = 10;
  const auto many = parse_json("[1,2,3,4,5,6,7,8,9,10]", limits);
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("more than 10 values"), std::string::npos);
  limits.bytes_max = 3;
  EXPECT_FALSE(parse_json("[1,2]", limits).ok());
}

TEST(Json, NumbersKeepTheirText) {
  const auto parsed =
      parse_json(R"({"n":123456789012345678901234567890,"m":-9223372036854775808})", {});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->find("n")->text(), "123456789012345678901234567890");
  EXPECT_FALSE(parsed->find("n")->as_int64().has_value());
  EXPECT_EQ(parsed->find("m")->as_int64().value(), INT64_MIN);
}

TEST(Json, SetEraseAndIndex) {
  JsonValue object = JsonValue::object();
  for (int i = 0; i < 40; ++i) object.set("k" + std::to_string(i), JsonValue::integer(i));
  object.set("k3", JsonValue::string("three"));
  object.erase("k5");
  EXPECT_EQ(object.size(), 39U);
  EXPECT_EQ(object.find("k5"), nullptr);
  EXPECT_EQ(object.find("k39")->as_int64().value(), 39);
  EXPECT_EQ(object.members()[3].value.text(), "three");
}

TEST(Json, Styles) {
  const auto value = parse_json(R"({"a":[1,{"b":[]}],"c":"d"})", {});
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(write_json(*value, JsonStyle::kCompact), R"({"a":[1,{"b":[]}],"c":"d"})");
  EXPECT_EQ(write_json(*value, JsonStyle::kIndent1),
            "{\n \"a\": [\n  1,\n  {\n   \"b\": []\n  }\n ],\n \"c\": \"d\"\n}");
}

// A path, say, may hold any bytes; what is written is JSON all the same.
TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  const auto check = [](std::string text, const std::string& expected) {
    JsonValue value = JsonValue::object();
    value.set(text, JsonValue::string(text));
    for (const JsonStyle style : {JsonStyle::kPython, JsonStyle::kCompact, JsonStyle::kIndent1}) {
      const auto again = parse_json(write_json(value, style), {});
      ASSERT_TRUE(again.ok()) << again.error().message;
      EXPECT_EQ(again->members()[0].key, expected);
      EXPECT_EQ(again->members()[0].value.text(), expected);
    }
    EXPECT_EQ(parse_json(quote_json(text), {})->text(), expected);
  };
  check("caf\xE9", "caf\uFFFD");
  check("\xE9t\xE9", "\uFFFDt\uFFFD");
  check("a\xC3", "a\uFFFD");                    // cut in the middle of a character
  check("\xC3\"\n", "\uFFFD\"\n");              // what follows is still escaped
  check("\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD");  // a surrogate
  check("\xFF\xFE", "\uFFFD\uFFFD");
  check("gr\u00F6\u00DFe \u20AC \U0001F600 \uFFFD", "gr\u00F6\u00DFe \u20AC \U0001F600 \uFFFD");
}

}  // namespace
}  // namespace layard::base
