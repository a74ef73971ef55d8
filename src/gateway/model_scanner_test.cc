#include "gateway/model_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::gateway {
namespace {

// What stands between the quotes of each value found, with the text given in pieces.
std::vector<std::string> found(std::string_view text, ModelPlaces places, std::size_t piece_bytes) {
  ModelScanner scanner(places);
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
    std::string_view piece = text.substr(begin, piece_bytes);
    while (!piece.empty()) {
      const bool within = scanner.in_model();
      const auto step = scanner.scan(piece);
      if (within) values.back() += piece.substr(0, step.bytes);
      if (step.found == ModelScanner::Found::kBegin) values.emplace_back();
      if (step.found == ModelScanner::Found::kEnd) values.back().pop_back();
      piece.remove_prefix(step.bytes);
    }
  }
  return values;
}

struct Row {
  std::string text;
  std::vector<std::string> top;
  std::vector<std::string> reply;
};

TEST(ModelScanner, FindsValuesAtTheirPlacesOnly) {
  const std::vector<Row> rows = {
      {R"({"model":"a"})", {"a"}, {"a"}},
      {R"( { "x" : 1 , "model" : "a" , "y":[]} )", {"a"}, {"a"}},
      {"\xEF\xBB\xBF{\"model\":\"a\"}", {"a"}, {"a"}},
      {R"({"\u006d\u006F\u0064e\u006c":"a"})", {"a"}, {"a"}},
      {R"({"\u016dodel":"a","mode\l":"b","model ":"c","models":"d","mode":"e"})", {}, {}},
      {R"({"modelmodelmodel":"a","":"b","Model":"c"})", {}, {}},
      {R"({"model":"a","model":1,"model":"b"})", {"a", "b"}, {"a", "b"}},
      {R"({"model":""})", {""}, {""}},
      {R"({"model":"a\"b\\","x":"\"model\":\"n\""})", {R"(a\"b\\)"}, {R"(a\"b\\)"}},
      {R"({"x":{"model":"n"},"y":[{"model":"n"}],"model":"a"})", {"a"}, {"a"}},
      {R"({"x":[[["}]"]]],"y":{"z":"\\"},"model":"a"})", {"a"}, {"a"}},
      {R"({"model":null,"x":true,"y":-1.5e3,"model":["n"]})", {}, {}},
      {R"({"model":{"model":"n"}})", {}, {}},
      {R"({"message":{"id":1,"model":"b","x":{"model":"n"}},"model":"a"})", {"a"}, {"b", "a"}},
      {R"({"response":{"model":"b"}})", {}, {"b"}},
      {R"({"response":{"message":{"model":"n"},"model":"b"}})", {}, {"b"}},
      {R"({"message":[{"model":"n"}],"response":"x"})", {}, {}},
      {R"({"message":{},"response":{},"model":"a"})", {"a"}, {"a"}},
      {R"([{"model":"n"}])", {}, {}},
      {R"("model":"n")", {}, {}},
      {R"({"model":"a"}{"model":"n"})", {"a"}, {"a"}},
      {R"({"model":"a)", {"a"}, {"a"}},
      {R"({"model" "n"})", {}, {}},
      {R"({model:"n","model":"n"})", {}, {}},
      {R"({"x":1 "model":"n"})", {}, {}},
      {R"({"\u00zz":1,"model":"n"})", {}, {}},
      {"", {}, {}},
      {"[DONE]", {}, {}},
      {"{}", {}, {}},
  };
  for (const Row& row : rows) {
    for (std::size_t bytes = 1; bytes <= row.text.size() + 1; ++bytes) {
      EXPECT_EQ(found(row.text, ModelPlaces::kTop, bytes), row.top) << row.text << " " << bytes;
      EXPECT_EQ(found(row.text, ModelPlaces::kReply, bytes), row.reply) << row.text << " " << bytes;
    }
  }
}

TEST(ModelScanner, DepthCostsNothing) {
  const std::string deep =
      "{\"x\":" + std::string(100'000, '[') + std::string(100'000, ']') + R"(,"model":"a"})";
  EXPECT_EQ(found(deep, ModelPlaces::kTop, 4096), std::vector<std::string>{"a"});
}

TEST(ModelScanner, KnowsWhetherAnObjectIsOpen) {
  const auto check = [](std::string_view text, bool open, bool in_string) {
    ModelScanner scanner(ModelPlaces::kReply);
    while (!text.empty()) text.remove_prefix(scanner.scan(text).bytes);
    EXPECT_EQ(scanner.is_open(), open);
    EXPECT_EQ(scanner.in_string(), in_string);
    scanner.restart();
    EXPECT_FALSE(scanner.is_open() || scanner.in_string());
    EXPECT_EQ(scanner.scan(R"({"model":")").found, ModelScanner::Found::kBegin);
  };
  check("", false, false);
  check("  ", false, false);
  check("{", true, false);
  check("{\"a", true, true);
  check("{\"a\":[\"", true, true);
  check("{\"a\":\"x\\\"", true, true);
  check("{\"model\":\"x", true, true);
  check("{\"a\":1", true, false);
  check("{\"a\":1}", false, false);
  check("{\"message\":{}", true, false);
  check("no", false, false);
}

}  // namespace
}  // namespace layard::gateway
