#include "decision/python_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "decision/python_unicode.h"
#include "support/small_stack.h"
namespace layard::decision {
namespace {

base::JsonValue parsed(std::string_view json) {
  auto value = base::parse_json(json, base::JsonLimits{});
  EXPECT_TRUE(value.ok()) << json;
  return value.ok() ? *value : base::JsonValue();
}

// Expected texts: CPython 3.11 repr(json.loads(text)).
TEST(PythonText, Repr) {
  const auto check = [](const char* json, const char* expected) {
    EXPECT_EQ(python_repr(parsed(json)), expected);
  };
  check("null", "None");
  check("true", "True");
  check("false", "False");
  check("3", "3");
  check("123456789012345678901234567890", "123456789012345678901234567890");
  check("2.5", "2.5");
  check("1e16", "1e+16");
  check("1e999", "inf");
  check("-1e999", "-inf");
  check(R"("it")", "'it'");
  check(R"("it's")", "\"it's\"");
  check(R"("it's \"so\"")", R"('it\'s "so"')");
  check(R"("a\\b\n\t\r\u0007")", R"('a\\b\n\t\r\x07')");
  check(R"("\u007f\u00a0\u00ad\u2028\ufeff\u200b")", R"('\x7f\xa0\xad\u2028\ufeff\u200b')");
  check(R"("größer 日本 😀 \ud83d\ude00")", "'größer 日本 😀 😀'");
  check(R"("\udb40\udc01\uffff")", R"('\U000e0001\uffff')");
  check("[]", "[]");
  check("{}", "{}");
  check(R"(["noul", {"a": [1, null], "b": {}}])", "['noul', {'a': [1, None], 'b': {}}]");
}

TEST(PythonText, ReprOfAHugeValueIsCut) {
  const std::string text(100000, 'x');
  EXPECT_EQ(python_repr(text), "'" + std::string(1999, 'x') + "...");
  base::JsonValue list = base::JsonValue::array();
  for (int i = 0; i < 5000; ++i) list.push_back(base::JsonValue::string("größer"));
  const std::string repr = python_repr(list);
  EXPECT_LE(repr.size(), 2003U);
  EXPECT_TRUE(repr.ends_with("..."));
}

TEST(PythonText, ReprDoesNotRecurse) {
  base::JsonValue deep = base::JsonValue::array();
  for (int i = 0; i < 200000; ++i) {
    base::JsonValue outer = base::JsonValue::array();
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_EQ(python_repr(deep).size(), 2003U);
  EXPECT_EQ(python_str(deep).size(), 2U * 200001U);
}

TEST(PythonText, StrAndTypeName) {
  const auto check = [](const char* json, const char* text, const char* type) {
    EXPECT_EQ(python_str(parsed(json)), text);
    EXPECT_EQ(python_type_name(parsed(json)), type);
  };
  check("null", "None", "NoneType");
  check("true", "True", "bool");
  check("7", "7", "int");
  check("2.50", "2.5", "float");
  check(R"("it's")", "it's", "str");
  check(R"(["a"])", "['a']", "list");
  check(R"({"a":1})", "{'a': 1}", "dict");
}

TEST(PythonText, JsonWords) {
  const auto check = [](const char* json, const char* type) {
    EXPECT_EQ(json_type_name(parsed(json)), type);
    EXPECT_EQ(json_shown(parsed(json)), json);
  };
  check("null", "null");
  check("true", "a boolean");
  check("7", "a number");
  check("2.5", "a number");
  check(R"("it's")", "a string");
  check(R"(["a", null])", "a list");
  check(R"({"a": 1})", "an object");
  EXPECT_EQ(json_shown(base::JsonValue::string(std::string(5000, 'x'))).size(), 2003U);
}

TEST(PythonText, Strip) {
  const auto check = [](const char* text, const char* expected) {
    EXPECT_EQ(python_strip(text), expected);
  };
  check("", "");
  check(" \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f ", "");
  check("  a b  ", "a b");
  check("\xC2\x85\xC2\xA0 x\xE2\x80\xA8\xE3\x80\x80", "x");
  check("\xE2\x80\x8B", "\xE2\x80\x8B");  // the zero-width space is no white space
  check("\xEF\xBB\xBF", "\xEF\xBB\xBF");  // nor is the byte-order mark
}

TEST(PythonText, Lower) {
  const auto check = [](const char* text, const char* expected) {
    EXPECT_EQ(python_lower(text), expected);
  };
  check("TRUE", "true");
  check("ÄÖÜ ДА Ⅷ", "äöü да ⅷ");
  check("İ", "i̇");
  check("ĀāĂ ǅ", "āāă ǆ");
  check("ẞß", "ßß");
  check("日本", "日本");
}

TEST(PythonText, JsonText) {
  const auto check = [](const char* json, const char* expected) {
    EXPECT_EQ(json_text(parsed(json)), expected);
  };
  check(R"("as it is")", "as it is");
  check(R"({"desc":"phishing"})", R"({"desc": "phishing"})");
  check(R"(["a","b"])", R"(["a", "b"])");
  check("3", "3");
  check("false", "false");
  check(R"({"n":123456789012345678901234567890,"m":"münchen"})",
        R"({"n": 123456789012345678901234567890, "m": "münchen"})");
}

TEST(PythonUnicode, RangesAscendAndDoNotTouch) {
  const auto hidden = hidden_ranges();
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    EXPECT_LE(hidden[i].first, hidden[i].last);
    if (i > 0) {
      EXPECT_GT(hidden[i].first, hidden[i - 1].last + 1);
    }
  }
  const auto lower = lower_ranges();
  for (std::size_t i = 0; i < lower.size(); ++i) {
    EXPECT_LE(lower[i].first, lower[i].last);
    EXPECT_NE(lower[i].delta, 0);
    EXPECT_TRUE(lower[i].step == 1 || lower[i].step == 2);
    if (i > 0) {
      EXPECT_GT(lower[i].first, lower[i - 1].last);
    }
  }
}

// Counts printed by CPython 3.11.7: 144516 printable code points, 1,432 with one other lower case.
TEST(PythonUnicode, CountsEqualCPython) {
  std::size_t hidden = 0;
  for (const auto& range : hidden_ranges()) hidden += range.last - range.first + 1;
  std::size_t lower = 0;
  for (const auto& range : lower_ranges()) lower += (range.last - range.first) / range.step + 1;
  EXPECT_EQ(hidden, 969596U);
  EXPECT_EQ(lower, 1432U);
}

// Upstream's texts are made of whatever the parser takes, on whatever thread a caller has.
TEST(PythonText, DepthDoesNotCostStack) {
  for (const bool objects : {false, true}) {
    layard::testing::run_on_small_stack([objects] {
      const std::string text = layard::testing::nested_json(512, objects);
      const auto value = base::parse_json(text, {});
      ASSERT_TRUE(value.ok());
      EXPECT_EQ(python_str(*value).size(), text.size() + (objects ? 512 : 0));
      EXPECT_FALSE(python_repr(*value).empty());
      EXPECT_EQ(json_text(*value).size(), text.size() + (objects ? 512 : 0));
    });
  }
}

}  // namespace
}  // namespace layard::decision
