#include "language/state_text.h"

#include <gtest/gtest.h>

namespace layard::language {
namespace {

std::u32string a(std::size_t count) { return std::u32string(count, U'a'); }
std::string quoted(std::size_t count) { return '"' + std::string(count, 'a') + '"'; }

TEST(StateText, Plain) {
  EXPECT_EQ(plain_text(""), U"");
  EXPECT_EQ(plain_text("é 日 \xF0\x9F\x91\x8D"), U"é 日 \U0001F44D");
  EXPECT_EQ(plain_text("[\"a\"]"), U"[\"a\"]");
}

TEST(StateText, PlainTextIsCutByCharacters) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "日";
  EXPECT_EQ(plain_text(text), std::u32string(4000, U'日'));
  EXPECT_EQ(plain_text(std::string(4000, 'a') + "é"), a(4000));
}

TEST(StateText, BytesThatAreNotUtf8) {
  EXPECT_EQ(plain_text("a\xFF\xC3"), U"a\uFFFD\uFFFD");
  // A surrogate in UTF-8's form is three bytes that are none.
  EXPECT_EQ(plain_text("\xED\xA0\x80z"), U"\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(plain_text(std::string(5000, '\x80')), std::u32string(4000, U'\uFFFD'));
}

TEST(StateText, Json) {
  const auto check = [](std::string_view json, std::u32string_view expected) {
    const auto text = json_text(json);
    ASSERT_TRUE(text.ok()) << json << ": " << text.error().message;
    EXPECT_EQ(*text, expected) << json;
  };
  check(R"("x")", U"x");
  check("12", U"");
  check("true", U"");
  check("[]", U"");
  check("{}", U"");
  check("[1, null, false]", U"");
  check("-Infinity", U"");
  check(R"([Infinity, -Infinity, "a", {"b": Infinity, "c": "d"}])", U"a d");
  check(R"(["a", "b"])", U"a b");
  check(R"({"key": "a", "other key": ["b", {"c": "d"}], "n": 5})", U"a b d");
  check(R"(["p", "", "q"])", U"p  q");
  check(R"(["\u00e9\ud83d\udc4d"])", U"é\U0001F44D");
  // Six containers around a text are looked into, seven are not.
  check(R"([[[[[["x"]]]]]])", U"x");
  check(R"([[[[[[["x"]]]]]]])", U"");
  check(R"([[[[[[["x"]]], "y"]]], "z"])", U"y z");
  check(R"({"a": {"b": {"c": {"d": {"e": {"f": "x"}}}}}})", U"x");
  check(R"({"a": {"b": {"c": {"d": {"e": {"f": {"g": "x"}}}}}}})", U"");
}

TEST(StateText, JsonIsCutAtTheLimit) {
  const auto check = [](const std::string& json, const std::u32string& expected) {
    const auto text = json_text(json);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(text->size(), expected.size());
    EXPECT_EQ(*text, expected);
  };
  // The blank before a text counts.
  check("[" + quoted(3999) + ", \"b\"]", a(3999));
  check("[" + quoted(4000) + ", \"b\"]", a(4000));
  check("[" + quoted(4001) + ", \"b\"]", a(4000));
  check("[" + quoted(3998) + ", \"b\", \"c\"]", a(3998) + U" b");
  check("[" + quoted(3998) + ", \"bb\"]", a(3998) + U" b");
  check("[" + quoted(3998) + ", \"\", \"c\"]", a(3998) + U" ");
  check("[" + quoted(3997) + ", \"\", \"c\"]", a(3997) + U"  c");
}

TEST(StateText, NothingIsReadBehindTheLimit) {
  // A parser that went on would refuse this.
  const auto text = json_text("[" + quoted(4000) + ", \"b\", nonsense]");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, a(4000));
}

TEST(StateText, NotJson) {
  for (const char* json : {"", "{", "[1", "plain text", "\"\\ud800\"", "[\"a\"] b"}) {
    const auto text = json_text(json);
    ASSERT_FALSE(text.ok()) << json;
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidRequest) << json;
  }
  EXPECT_FALSE(json_text(std::string(100000, '[')).ok());
}

}  // namespace
}  // namespace layard::language
