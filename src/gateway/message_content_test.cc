#include "gateway/message_content.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"

namespace layard::gateway {
namespace {

Result<MessageContent> read(std::string_view json, const ContentWish& wish) {
  LAYARD_ASSIGN(const base::JsonValue content, base::parse_json(json, base::JsonLimits()));
  return read_content(content, "messages[3].content", wish);
}

struct Row {
  std::string json;
  std::string text;
  bool media = false;
  bool tools = false;
};

TEST(MessageContent, EveryFormIsRead) {
  const std::vector<Row> rows = {
      {R"("hello")", "hello"},
      {R"("")", ""},
      {"null", ""},
      {"[]", ""},
      {R"([{"type":"text","text":"a"},{"type":"input_text","text":"b"}])", "a\nb"},
      {R"([{"type":"output_text","text":"a"},"b",{"text":"c"}])", "a\nb\nc"},
      {R"([{"type":"text","text":""},{"type":"text","text":"b"},{"type":"text"}])", "b"},
      {R"([{"type":"text","text":null}])", ""},
      {R"([{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"a"}])", "a",
       true},
      {R"([{"type":"input_image","image_url":"u"}])", "", true},
      {R"([{"type":"image","source":{"type":"base64","data":"x"}}])", "", true},
      {R"([{"type":"file","file":{"file_id":"x"}}])", "", true},
      {R"([{"type":"input_file","file_id":"x"}])", "", true},
      {R"([{"type":"input_audio","input_audio":{"data":"x"}}])", "", true},
      {R"([{"type":"document","source":{"type":"base64","data":"x"}}])", "", true},
      {R"([{"type":"document","source":{"type":"text","data":"x"}}])", "x"},
      {R"([{"type":"thinking","thinking":"x"},{"type":"refusal","refusal":"x"}])", ""},
      {R"([{"type":"tool_use","name":"f","text":"x"}])", ""},
      {R"([{"type":"tool_result","content":"x"}])", "", false, true},
      {R"([{"type":"text","text":"a"},{"type":"tool_result","content":[{"type":"text","text":"x"},
          {"type":"image","source":{}}]},{"type":"text","text":"b"}])",
       "a\nb", true, true},
      {R"([{"type":"tool_result"}])", "", false, true},
      {R"([{}])", ""},
  };
  for (const Row& row : rows) {
    const auto content = read(row.json, {});
    ASSERT_TRUE(content.ok()) << row.json;
    EXPECT_EQ(content->text, row.text) << row.json;
    EXPECT_EQ(content->has_media, row.media) << row.json;
    EXPECT_EQ(content->has_tool_results, row.tools) << row.json;
  }
}

TEST(MessageContent, TextsOfToolsWhereTheyAreWanted) {
  const auto content = read(R"(["a",{"type":"tool_result","content":["b","c"]},"d"])",
                            {.media_marks = false, .tool_texts = true});
  EXPECT_EQ(content->text, "a\nb\nc\nd");
}

TEST(MessageContent, MarksTellMediaApart) {
  const auto marked = [](std::string_view json) {
    return read(json, {.media_marks = true, .tool_texts = false})->text;
  };
  const std::string one = marked(R"(["a",{"type":"image_url","image_url":{"url":"data:1"}},"b"])");
  const std::string other =
      marked(R"(["a",{"type":"image_url","image_url":{"url":"data:2"}},"b"])");
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), other.size());
  EXPECT_TRUE(one.starts_with("a\n[image_url ")) << one;
  EXPECT_TRUE(one.ends_with("]\nb")) << one;
  EXPECT_EQ(one.find("data:1"), std::string::npos);
}

TEST(MessageContent, OtherTypesAreRefusedWithTheirPlace) {
  const auto check = [](std::string_view json, std::string_view message) {
    const auto content = read(json, {});
    ASSERT_FALSE(content.ok()) << json;
    EXPECT_EQ(content.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(content.error().message, message);
  };
  check("17", "messages[3].content must be a string, a list of parts or null; found a number");
  check("{}", "messages[3].content must be a string, a list of parts or null; found an object");
  check("[\"a\",[]]", "messages[3].content[1] must be an object; found a list");
  check(R"([{"type":"text","text":true}])",
        "messages[3].content[0].text must be a string; found a boolean");
  check(R"([{"type":"tool_result","content":1}])",
        "messages[3].content[0].content must be a string, a list of parts or null; found a number");
}

TEST(MessageContent, RemindersAreTakenOut) {
  const auto check = [](std::string_view text, std::string_view expected) {
    EXPECT_EQ(without_reminders(text), expected) << text;
  };
  check("", "");
  check(" as it is \n", " as it is \n");
  check("<system-reminder>\nx\n</system-reminder>\n", "");
  check("<system-reminder>x</system-reminder>\nask\n", "ask");
  check("ask\n  <system-reminder>x</system-reminder>", "ask");
  check("a\n<system-reminder>x</system-reminder>\nb", "a\n\nb");
  check("<system-reminder>x</system-reminder><environment_context>y</environment_context> b", "b");
  check("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "");
  check("<user_instructions>x</user_instructions>\nwhy?", "why?");
  check("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\ny\n</INSTRUCTIONS>", "");
  check("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\ny\n</INSTRUCTIONS>\nask",
        "# AGENTS.md instructions for /x\n\n\nask");
  // What only looks like a block stays.
  check("what is <system-reminder>x</system-reminder>?",
        "what is <system-reminder>x</system-reminder>?");
  check("<system-reminder>never closed", "<system-reminder>never closed");
  check("<system-reminders>x</system-reminders>", "<system-reminders>x</system-reminders>");
  check("<b>x</b>", "<b>x</b>");
  check("<system-reminder", "<system-reminder");
  check("</system-reminder>\n<system-reminder>", "</system-reminder>\n<system-reminder>");
  check("# AGENTS.md instructions for /x", "# AGENTS.md instructions for /x");
}

TEST(MessageContent, ManyUnclosedBlocksTakeLinearTime) {
  std::string text;
  while (text.size() < 8'000'000) text += "<system-reminder>\n";
  const std::int64_t began_ns = base::real_clock().now_ns();
  EXPECT_EQ(without_reminders(text), text);
  EXPECT_LT(base::real_clock().now_ns() - began_ns, 5'000'000'000);
}

TEST(MessageContent, BillingLines) {
  EXPECT_EQ(without_billing_lines("x-anthropic-billing-header: cch=1;\nYou are\nx"), "You are\nx");
  EXPECT_EQ(without_billing_lines("a\nx-anthropic-billing-header: cch=1;"), "a\n");
  EXPECT_EQ(without_billing_lines("a x-anthropic-billing-header: b\n"),
            "a x-anthropic-billing-header: b\n");
  EXPECT_EQ(without_billing_lines(""), "");
}

TEST(MessageContent, BlankAndLines) {
  EXPECT_TRUE(is_blank("") && is_blank(" \t\r\n"));
  EXPECT_FALSE(is_blank(" a"));
  std::string out;
  append_line(out, "");
  append_line(out, "a");
  append_line(out, "");
  append_line(out, "b");
  EXPECT_EQ(out, "a\nb");
}

}  // namespace
}  // namespace layard::gateway
