#include "base/json_fault.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

namespace layard::base {
namespace {

constexpr std::size_t kDepth = 512;

// `expected` is `LINE:COLUMN [POINTER ]WHAT`, of which WHAT may be a beginning.
void check(std::string_view text, const std::string& expected) {
  const auto fault = find_json_fault(text, kDepth);
  ASSERT_TRUE(fault.has_value()) << text;
  const std::string found = std::to_string(fault->line) + ":" + std::to_string(fault->column) +
                            (fault->pointer.empty() ? " " : " " + fault->pointer + " ") +
                            fault->what;
  EXPECT_EQ(found.substr(0, expected.size()), expected) << text << "\nfound: " << found;
  EXPECT_FALSE(parse_json(text, {}).ok()) << text;
}

TEST(JsonFault, Commas) {
  check(R"({"a": 1,})", "1:8 a comma with nothing behind it before '}'; remove the comma");
  check("{\n \"a\": [1,\n  2,\n ]\n}", "3:4 /a/2 a comma with nothing behind it before ']'");
  check("[1,,2]", "1:4 /1 a value is missing before ','");
  check("[,1]", "1:2 /0 a value is missing before ','");
  check("{,}", "1:2 a comma with nothing before it; remove it");
  check("[1 2]", "1:4 /0 a comma is missing before this");
  check("{\"a\":1 \"b\":2}", "1:8 /a a comma is missing before this");
  check("{\"a\": \"say \"hi\" now\"}",
        "1:13 /a a comma is missing before this; or a double quote inside a text, which is "
        "written \\\"");
}

TEST(JsonFault, Quotes) {
  check("{'a': 1}", "1:2 names and texts stand in double quotes, not in '");
  check("{\"a\": 'b'}", "1:7 /a names and texts stand in double quotes, not in '");
  check("{urgent:{type:noul}}", "1:2 the name urgent needs double quotes: \"urgent\"");
  check("{\"q\":{\"type\":noul}}",
        "1:14 /q/type not a JSON value: noul; a text needs double quotes: \"noul\"");
  check("{\"q\": Is it urgent?}", "1:7 /q not a JSON value: Is; a text");
  check("{1: 2}", "1:2 the name 1 needs double quotes: \"1\"");
  check(
      "{\xE2\x80\x9C"
      "a\xE2\x80\x9D: 1}",
      "1:2 a typographic quote (U+201C);");
  check("{\"a\": \"b}", "1:7 /a the double quote here is not closed");
  check("{\"a\": \"b\n}", "1:7 /a the text that begins here has a line break in it;");
  check("['\xC3\xBC']", "1:2 /0 names and texts");
  check("[\"\xC3\xBC\", x]", "1:7 /1 not a JSON value: x;");
}

TEST(JsonFault, Words) {
  check("[True]", "1:2 /0 not a JSON value: True; write true");
  check("[None]", "1:2 /0 not a JSON value: None; write null");
  check("[undefined]", "1:2 /0 not a JSON value: undefined; write null");
  check("{\"a\":-Infinity}", "1:6 /a NaN and Infinity are not JSON; send a number");
  check("[01]", "1:2 /0 not a JSON value: 01; numbers look like 12");
  check("[.5]", "1:2 /0 not a JSON value: .5; numbers look like 12");
  check("[1_000]", "1:2 /0 not a JSON value: 1_000; numbers look like 12");
  check("[nullx]", "1:2 /0 not a JSON value: nullx; a text");
  check("[" + std::string(100, 'x') + "]",
        "1:2 /0 not a JSON value: " + std::string(40, 'x') + "...; a text needs");
}

TEST(JsonFault, Structure) {
  check("", "1:1 there is no JSON, the text is empty");
  check(" \n ", "2:2 there is no JSON, the text is empty");
  check("[1,\n2", "2:2 /1 the text ends here, but the '[' of line 1, column 1 is not closed");
  check("{\"a\"", "1:5 /a the text ends here, but the '{' of column 1 is not closed");
  check("[1}", "1:3 /0 the '[' of column 1 is closed by '}' instead of ']'");
  check("{\"a\":1]", "1:7 /a the '{' of column 1 is closed by ']' instead of '}'");
  check("{\"a\":\n [1}", "2:4 /a/0 the '[' of column 2 is closed by '}' instead of ']'");
  check("[]]", "1:3 unexpected text after the JSON document");
  check("{} {}", "1:4 unexpected text after the JSON document");
  check("]", "1:1 ']' closes nothing");
  check("{\"a\" 1}", "1:6 /a behind the name \"a\" a ':' is missing");
  check("{\"a\" = 1}", "1:6 /a behind the name \"a\" a ':' is missing, not '='");
  check("{\"a\": }", "1:7 /a a value is missing behind the ':'");
  check("{\"a\"}", "1:5 /a behind the name \"a\" a ':' is missing");
  check("{: 1}", "1:2 a name in double quotes is missing before ':'");
  check("[\"a\": 1]", "1:5 /0 ':' in a list; a name and its value stand in braces");
  check("{\"a\":{\"b\":[1,{\"c\" 1}]}}", "1:19 /a/b/1/c behind the name \"c\" a ':'");
  check("{\"a\": 1 // one\n}", "1:9 /a comments are not JSON; remove it");
  check("# questions\n{}", "1:1 comments are not JSON");
  check("{\xC2\xA0\"a\": 1}", "1:2 the character U+00A0, which is no blank of JSON");
}

TEST(JsonFault, Strings) {
  check(R"(["it\'s"])", "1:5 /0 a bad escape: \\'; an apostrophe needs no backslash");
  check(R"(["C:\data"])", "1:5 /0 a bad escape: \\d; a backslash in a text is written \\\\");
  check(R"(["\u12"])", "1:3 /0 a bad escape: \\u; \\u wants four hex digits");
  check(R"(["\ud800"])", "1:3 /0 an unpaired surrogate escape");
  check(R"(["\udc00x"])", "1:3 /0 an unpaired surrogate escape");
  check(R"(["\ud800\u0041"])", "1:3 /0 an unpaired surrogate escape");
  check("[\"a\tb\"]", "1:4 /0 a tab inside a text; write \\t");
  check("[\"a\x01\"]", "1:4 /0 the control character U+0001 inside a text;");
  check("[\"caf\xE9\"]", "1:6 /0 the byte 0xE9 is not UTF-8; convert the text first");
  check("\xFF", "1:1 the byte 0xFF is not UTF-8");
  check("\"\\", "1:2 a bad escape; a backslash in a text");
}

TEST(JsonFault, NothingIsFoundInJson) {
  for (const std::string_view text :
       {"{}", " [ ] ", "\"\\ud83d\\ude00\\n\\/\"", "[-0.5e+10, 1E3, 0, true, false, null]",
        "{\"a\":{\"b\":[{}, []]},\"\":\"\xC3\xBC\"}", "-1", "\n\"x\"\r\n"}) {
    EXPECT_FALSE(find_json_fault(text, kDepth).has_value()) << text;
    EXPECT_TRUE(parse_json(text, {}).ok()) << text;
  }
}

TEST(JsonFault, PointersAndDepthAreBounded) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{\"" + std::string(100, 'k') + "\":";
  const auto fault = find_json_fault(deep + "x", kDepth);
  ASSERT_TRUE(fault.has_value());
  EXPECT_LT(fault->pointer.size(), 16U * 70);
  EXPECT_TRUE(fault->pointer.ends_with("/...")) << fault->pointer;
  EXPECT_FALSE(find_json_fault(std::string(kDepth + 1, '['), kDepth).has_value());
  EXPECT_TRUE(find_json_fault(std::string(kDepth, '['), kDepth).has_value());
}

// The parser decides what is JSON; the search for the fault must agree with it on every text.
TEST(JsonFault, AgreesWithTheParser) {
  const std::string seed_text =
      "{\"a\": [1, -2.5e3, true, null, {\"b\": \"x\\n\\u00e9 \xC3\xBC\"}], \"c\": {}, \"d\": []}";
  constexpr std::string_view kPieces = "{}[],:\"\\ \n0123456789-+.eEtrufalsn'x\x01\xC3";
  std::mt19937 random(20261130);
  int refused = 0;
  constexpr int kTexts = 20000;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = seed_text;
    for (int change = 0; change < 1 + i % 3; ++change) {
      const std::size_t at = random() % text.size();
      const char piece = kPieces[random() % kPieces.size()];
      switch (random() % 3) {
        case 0:
          text[at] = piece;
          break;
        case 1:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, 1, piece);
      }
    }
    const bool parsed = parse_json(text, {}).ok();
    refused += parsed ? 0 : 1;
    ASSERT_EQ(find_json_fault(text, kDepth).has_value(), !parsed) << text;
  }
  EXPECT_GT(refused, kTexts / 2);
  EXPECT_LT(refused, kTexts);
}

}  // namespace
}  // namespace layard::base
