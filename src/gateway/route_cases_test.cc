#include "gateway/route_cases.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

const std::vector<std::string> kClasses = {"code", "prose", "short", "long_doc"};

TEST(RouteCases, BothForms) {
  const char* object = R"({"classes": ["code"], "cases": [{"class": "code", "text": "a"},
                           {"class": "short", "text": "b", "language": "de"}]})";
  const char* lines =
      "{\"class\": \"code\", \"text\": \"a\"}\n\r\n"
      "{\"class\": \"short\", \"text\": \"b\", \"language\": \"de\"}";
  for (const char* text : {object, lines}) {
    const auto cases = parse_route_cases(text, kClasses);
    ASSERT_TRUE(cases.ok()) << cases.error().message;
    ASSERT_EQ(cases->size(), 2U);
    EXPECT_EQ((*cases)[0].class_name, "code");
    EXPECT_EQ((*cases)[1].text, "b");
    EXPECT_EQ((*cases)[1].language, "de");
  }
  // One line is a case too, not the object of many.
  EXPECT_EQ(parse_route_cases(R"({"class": "code", "text": "a"})", kClasses)->size(), 1U);
}

TEST(RouteCases, Refusals) {
  const auto check = [](std::string_view text, const std::string& part) {
    const auto cases = parse_route_cases(text, kClasses);
    ASSERT_FALSE(cases.ok()) << text;
    EXPECT_EQ(cases.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(cases.error().message.find(part), std::string::npos) << cases.error().message;
  };
  check("", "there is none");
  check("{", "line 1");
  check(R"({"cases": {}})", "must be a list");
  check(R"({"cases": []})", "there is none");
  check(R"({"cases": [{"class": "code"}]})", "cases[0]: needs a text as \"text\"");
  check("{\"class\": \"code\", \"text\": \"a\"}\n[]", "line 2: must be an object");
  check(R"({"class": "poem", "text": "a"})", "\"poem\" is none of the policy's");
}

TEST(RouteCases, Typos) {
  EXPECT_EQ(with_typos("a bc def"), "a bc def") << "no word is long enough";
  EXPECT_EQ(with_typos("文字だけ"), "文字だけ");
  EXPECT_EQ(with_typos("word"), "wrod");
  EXPECT_EQ(with_typos("noon look"), "noon look") << "nothing to swap";
  std::string text;
  for (int i = 0; i < 50; ++i) text += "some words here ";
  const std::string changed = with_typos(text);
  EXPECT_NE(changed, text);
  EXPECT_EQ(changed.size(), text.size());
  EXPECT_EQ(with_typos(text), changed) << "the same each time";
}

}  // namespace
}  // namespace layard::gateway
