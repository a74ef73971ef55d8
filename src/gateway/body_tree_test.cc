#include "gateway/body_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace layard::gateway {
namespace {

constexpr std::array<std::string_view, 3> kTop = {"model", "messages", "prompt"};

std::string kept(std::string_view body) {
  const auto tree = read_body_tree(body, kTop);
  return tree.ok() ? write_json(*tree, base::JsonStyle::kCompact) : tree.error().message;
}

TEST(BodyTree, KeepsWhatIsRead) {
  const auto check = [](std::string_view body, std::string_view expected) {
    EXPECT_EQ(kept(body), expected);
  };
  check(R"({})", R"({})");
  check(R"({"model":"a","seed":1,"tools":[{"name":"t"}]})", R"({"model":"a"})");
  check(R"({"x":{"model":"n","y":[[{}]]},"model":"a","z":[],"model":"b"})", R"({"model":"b"})");
  check(R"({"messages":[{"role":"user","content":[{"type":"text","text":"t","cache_control":{}}],
           "tool_calls":[{"function":{"name":"f"}}]}]})",
        R"({"messages":[{"role":"user","content":[{"type":"text","text":"t"}]}]})");
  check(R"({"messages":[{"model":"n","content":null}],"x":null,"y":true,"z":1})",
        R"({"messages":[{"content":null}]})");
  check(R"({"prompt":[1,2,3,"a",4,5.5,-1,[6,7],[8]],"model":1.5})",
        R"({"prompt":[1,"a",4,[6],[8]],"model":1.5})");
  check(R"({"prompt":[{"x":{"seed":1}},"a"]})", R"({"prompt":[{},"a"]})");
  check("\xEF\xBB\xBF{\"model\":\"\\ud83d\\ude00\"}", "{\"model\":\"\xF0\x9F\x98\x80\"}");
}

TEST(BodyTree, RefusesWithThePlace) {
  const auto check = [](std::string_view body, std::string_view part) {
    const std::string message = kept(body);
    EXPECT_NE(message.find(part), std::string::npos) << body << ": " << message;
  };
  check("", "JSON");
  check("[]", "the body must be a JSON object; found a list");
  check("null", "must be a JSON object; found null");
  check("\"x\"", "found a string");
  check("17", "found a number");
  check("true", "found a boolean");
  check("{\"model\":\n\"a\",}", "line 2, column 4");
  check("{\"x\":{\"y\":nul}}", "/x/y");
  check("{\"x\":\"\\ud800\"}", "line 1, column");
  check("{\"x\":\"\xFF\"}", "line 1, column");
  check("{} {}", "JSON at line 1");
}

TEST(BodyTree, BoundsHold) {
  EXPECT_NE(kept("{\"x\":" + std::string(100'000, '[')).find("deeper than 512"), std::string::npos);
  std::string passed_over = "{\"x\":[";
  std::string numbers = "{\"prompt\":[";
  std::string kept_values = "{\"prompt\":[";
  for (std::size_t i = 0; i <= kBodyValuesMax; ++i) {
    passed_over += "{},";
    numbers += "1,";
    kept_values += "\"\",";
  }
  EXPECT_EQ(kept(passed_over + "{}]}"), "{}");
  EXPECT_EQ(kept(numbers + "1]}"), "{\"prompt\":[1]}");
  EXPECT_NE(kept(kept_values + "1]}").find("more than 262144 values"), std::string::npos);
}

TEST(BodyTree, WordsOfEachKind) {
  EXPECT_EQ(kind_words(base::JsonKind::kNull), "null");
  EXPECT_EQ(kind_words(base::JsonKind::kReal), "a number");
  EXPECT_EQ(kind_words(base::JsonKind::kObject), "an object");
}

}  // namespace
}  // namespace layard::gateway
