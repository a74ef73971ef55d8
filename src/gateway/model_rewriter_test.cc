#include "gateway/model_rewriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/json.h"

namespace layard::gateway {
namespace {

std::string rewritten(ReplyForm form, std::string_view model, std::string_view text,
                      std::size_t piece_bytes) {
  ModelRewriter rewriter(form, model);
  std::string out;
  for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
    rewriter.feed(text.substr(begin, piece_bytes), out);
  }
  return out;
}

struct Row {
  std::string text;
  std::string expected;
};

void check(ReplyForm form, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (std::size_t bytes = 1; bytes <= row.text.size() + 1; ++bytes) {
      EXPECT_EQ(rewritten(form, "gpt", row.text, bytes), row.expected) << "pieces of " << bytes;
    }
  }
}

TEST(ModelRewriter, JsonBody) {
  check(ReplyForm::kJson,
        {
            {R"({"id":"x","model":"llama","choices":[{"model":"n"}]})",
             R"({"id":"x","model":"gpt","choices":[{"model":"n"}]})"},
            {"{ \"model\" :\r\n \"a\\\"b\\\\\" }\n", "{ \"model\" :\r\n \"gpt\" }\n"},
            {R"({"response":{"model":"a"},"message":{"model":"b"},"model":"c"})",
             R"({"response":{"model":"gpt"},"message":{"model":"gpt"},"model":"gpt"})"},
            {R"({"mod\u0065l":"a","model":null,"model":"b"})",
             R"({"mod\u0065l":"gpt","model":null,"model":"gpt"})"},
            {R"({"text":"\"model\":\"a\"","x":"data: {\"model\":\"a\"}"})",
             R"({"text":"\"model\":\"a\"","x":"data: {\"model\":\"a\"}"})"},
            {"data: {\"model\":\"a\"}\n\n", "data: {\"model\":\"a\"}\n\n"},
            {"[{\"model\":\"a\"}]", "[{\"model\":\"a\"}]"},
            {"\xFF\x00 not JSON", "\xFF\x00 not JSON"},
            {R"({"model" x "a"})", R"({"model" x "a"})"},
            {"", ""},
        });
}

TEST(ModelRewriter, Events) {
  check(ReplyForm::kSse,
        {
            {"data: {\"model\":\"a\"}\n\ndata: {\"model\":\"b\"}\n\ndata: [DONE]\n\n",
             "data: {\"model\":\"gpt\"}\n\ndata: {\"model\":\"gpt\"}\n\ndata: [DONE]\n\n"},
            {"data:{\"model\":\"a\"}\r\n\r\ndata:\t{\"model\":\"b\"}\r\rdata: [DONE]\r\n\r\n",
             "data:{\"model\":\"gpt\"}\r\n\r\ndata:\t{\"model\":\"gpt\"}\r\rdata: [DONE]\r\n\r\n"},
            {"event: message_start\ndata: "
             "{\"type\":\"message_start\",\"message\":{\"model\":\"a\"}}\n\n",
             "event: message_start\n"
             "data: {\"type\":\"message_start\",\"message\":{\"model\":\"gpt\"}}\n\n"},
            {"data: {\"response\":{\"id\":1,\"model\":\"a\"}}\n\n",
             "data: {\"response\":{\"id\":1,\"model\":\"gpt\"}}\n\n"},
            // Without empty lines between, and one text over several lines.
            {"data: {\"model\":\"a\"}\ndata: {\"model\":\"b\"}\n",
             "data: {\"model\":\"gpt\"}\ndata: {\"model\":\"gpt\"}\n"},
            {"data: {\"x\":{},\ndata: \"model\":\ndata: \"a\"}\n\n",
             "data: {\"x\":{},\ndata: \"model\":\ndata: \"gpt\"}\n\n"},
            // Other fields and comments are not data.
            {": {\"model\":\"a\"}\nevent: {\"model\":\"a\"}\nid: {\"model\":\"a\"}\n\n",
             ": {\"model\":\"a\"}\nevent: {\"model\":\"a\"}\nid: {\"model\":\"a\"}\n\n"},
            // What breaks off does not spoil the next event.
            {"data: {\"x\":[\"\n\ndata: {\"model\":\"b\"}\n\n",
             "data: {\"x\":[\"\n\ndata: {\"model\":\"gpt\"}\n\n"},
            {"data: {\"x\":[\n\ndata: {\"model\":\"b\"}\n\n",
             "data: {\"x\":[\n\ndata: {\"model\":\"gpt\"}\n\n"},
            {"data: {\"x\":\"y\\\ndata: {\"model\":\"b\"}\n\n",
             "data: {\"x\":\"y\\\ndata: {\"model\":\"gpt\"}\n\n"},
            {"data: nonsense\ndata: {\"model\":\"b\"}\n\n",
             "data: nonsense\ndata: {\"model\":\"gpt\"}\n\n"},
        });
}

TEST(ModelRewriter, TheNewNameIsEscaped) {
  EXPECT_EQ(rewritten(ReplyForm::kJson, "a\"\\\n\xC3\xA9", R"({"model":"x"})", 3),
            "{\"model\":\"a\\\"\\\\\\n\xC3\xA9\"}");
}

TEST(ModelRewriter, NothingIsHeldBack) {
  ModelRewriter rewriter(ReplyForm::kSse, "gpt");
  const std::vector<Row> steps = {
      {"da", "da"},           {"ta: {\"mo", "ta: {\"mo"},
      {"del\": ", "del\": "}, {"\"", "\"gpt\""},
      {"llama", ""},          {"\\", ""},
      {"\"x\",\"a", ",\"a"},  {"\":1}", "\":1}"},
      {"\r", "\r"},           {"\n\r\nd", "\n\r\nd"},
  };
  for (const Row& step : steps) {
    std::string out;
    rewriter.feed(step.text, out);
    EXPECT_EQ(out, step.expected) << step.text;
  }
  EXPECT_EQ(rewriter.replaced(), 1U);
}

// A random value; names and texts are those that could be taken for what is looked for.
base::JsonValue random_value(std::mt19937& random, int depth) {
  using base::JsonValue;
  static const std::vector<std::string> kTexts = {"model", "message", "response",
                                                  "a\"b",  "\\",      "\\\"model\\\":\"x\"",
                                                  "",      "\n\r",    "\xE2\x82\xAC"};
  const auto pick = [&random](std::size_t n) { return random() % n; };
  const std::size_t kind = depth == 0 ? 4 : pick(depth > 3 ? 4 : 6);
  if (kind == 4) {
    JsonValue object = JsonValue::object();
    for (std::size_t i = pick(10); i > 0; --i) {
      object.set(kTexts[pick(kTexts.size())], random_value(random, depth + 1));
    }
    return object;
  }
  if (kind == 5) {
    JsonValue array = JsonValue::array();
    for (std::size_t i = pick(4); i > 0; --i) array.push_back(random_value(random, depth + 1));
    return array;
  }
  if (kind == 0) return JsonValue::null();
  if (kind == 1) return JsonValue::integer(-17);
  return JsonValue::string(kTexts[pick(kTexts.size())]);
}

void rename(base::JsonValue& object) {
  const auto* model = object.find("model");
  if (model != nullptr && model->is_string()) object.set("model", base::JsonValue::string("gpt"));
}

TEST(ModelRewriter, OnlyTheNameDiffersHoweverTheInputIsCut) {
  std::mt19937 random(20261201);
  std::size_t changed = 0;
  for (int round = 0; round < 2000; ++round) {
    base::JsonValue value = random_value(random, 0);
    const auto style = round % 2 == 0 ? base::JsonStyle::kCompact : base::JsonStyle::kPython;
    const std::string before = write_json(value, style);
    rename(value);
    for (const char* name : {"message", "response"}) {
      auto* child = value.find_mutable(name);
      if (child != nullptr && child->is_object()) rename(*child);
    }
    const std::string after = write_json(value, style);
    changed += before == after ? 0 : 1;
    const std::size_t bytes = 1 + random() % 9;
    EXPECT_EQ(rewritten(ReplyForm::kJson, "gpt", before, bytes), after);
    const auto event = [](const std::string& text) { return "data: " + text + "\r\n\r\n"; };
    EXPECT_EQ(rewritten(ReplyForm::kSse, "gpt", event(before) + event(before), bytes),
              event(after) + event(after));
  }
  EXPECT_GT(changed, 200U);
}

TEST(ModelRewriter, RemembersTheFirstNameItReplaced) {
  for (const std::size_t cut : {std::size_t{1}, std::size_t{5}, std::size_t{100}}) {
    ModelRewriter rewriter(ReplyForm::kJson, "mine");
    const std::string text = R"({"id": 1, "model": "real \"one\"", "model": "other"})";
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += cut) rewriter.feed(text.substr(i, cut), out);
    EXPECT_EQ(rewriter.first_seen(), R"(real \"one\")") << cut;
  }
  ModelRewriter longest(ReplyForm::kJson, "mine");
  std::string out;
  longest.feed("{\"model\": \"" + std::string(1000, 'a') + "\"}", out);
  EXPECT_EQ(longest.first_seen(), std::string(ModelRewriter::kSeenBytesMax, 'a'));
}

}  // namespace
}  // namespace layard::gateway
