#include "gateway/chat_request.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"

namespace layard::gateway {
namespace {

using Texts = std::vector<std::string>;

ChatRequest read(Api api, std::string_view body, GateScope scope = GateScope::kFirstUser,
                 std::int64_t max_chars = 0) {
  auto request = read_chat_request(api, body, {.scope = scope, .max_chars = max_chars});
  EXPECT_TRUE(request.ok()) << body << ": " << (request.ok() ? "" : request.error().message);
  return request.ok() ? *std::move(request) : ChatRequest{};
}

std::string chat(std::string_view messages) {
  return R"({"model":"m","messages":[)" + std::string(messages) + "]}";
}

struct TextRow {
  Api api = Api::kChatCompletions;
  std::string body;
  std::string first_user;
  std::string head;
  std::string all;
};

TEST(ChatRequest, TextByScope) {
  const std::vector<TextRow> rows = {
      {Api::kChatCompletions, chat(R"({"role":"system","content":"s"},{"role":"user","content":"a"},
               {"role":"assistant","content":"b"},{"role":"user","content":"c"})"),
       "a", "s\na", "s\na\nb\nc"},
      {Api::kChatCompletions, chat(R"({"role":"developer","content":[{"type":"text","text":"d"}]},
               {"role":"assistant","content":null,"tool_calls":[{"function":{"name":"x"}}]},
               {"role":"tool","content":"t"},
               {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
       "a\nb", "d\nt\na\nb", "d\nt\na\nb"},
      {Api::kChatCompletions, chat(""), "", "", ""},
      {Api::kChatCompletions, chat(R"({"role":"user"},{"role":"user","content":null})"), "", "",
       ""},
      {Api::kChatCompletions, chat(R"({"content":"x"},{"role":7,"content":"y"})"), "", "x\ny",
       "x\ny"},
      // A program's message before the human's, and reminders beside it.
      {Api::kChatCompletions,
       chat(R"({"role":"user","content":"<environment_context>e</environment_context>"},
               {"role":"user","content":"<system-reminder>r</system-reminder>\nask"},
               {"role":"user","content":"more"})"),
       "ask", "ask", "ask\nmore"},
      // An image without a text is no text.
      {Api::kChatCompletions,
       chat(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]},
               {"role":"assistant","content":"b"},{"role":"user","content":"c"})"),
       "c", "b\nc", "b\nc"},
      {Api::kMessages,
       R"({"system":[{"type":"text","text":"s","cache_control":{}},{"type":"text","text":"s2"}],
          "messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":[{"type":"tool_use","name":"f","input":{"text":"n"}}]},
            {"role":"user","content":[{"type":"tool_result","content":"t"}]}]})",
       "a", "s\ns2\na", "s\ns2\na\nt"},
      {Api::kCountTokens, R"({"system":"s","messages":[{"role":"user","content":["a"]}]})", "a",
       "s\na", "s\na"},
      {Api::kMessages,
       R"({"messages":[{"role":"user","content":[{"type":"tool_result","content":"t"},
            {"type":"text","text":"<system-reminder>r</system-reminder>"}]},
            {"role":"user","content":[{"type":"tool_result","content":"t"},
            {"type":"text","text":"and now?"}]}]})",
       "and now?", "and now?", "t\nt\nand now?"},
      {Api::kResponses, R"({"input":"a","instructions":"s"})", "a", "s\na", "s\na"},
      {Api::kResponses,
       R"({"instructions":null,"input":[{"role":"developer","content":"d"},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},
            {"type":"function_call","name":"f","arguments":"{}"},
            {"type":"function_call_output","output":"t"},
            {"type":"custom_tool_call_output","output":[{"type":"input_text","text":"u"}]},
            {"type":"computer_call_output","output":{"type":"x"}},
            {"type":"reasoning","content":"n","summary":[]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}]})",
       "a", "d\na", "d\na\nt\nu\nb"},
      {Api::kResponses, R"({"model":"m"})", "", "", ""},
      {Api::kCompletions, R"({"prompt":"a"})", "a", "a", "a"},
      {Api::kCompletions, R"({"prompt":["a","b"]})", "a\nb", "a\nb", "a\nb"},
      {Api::kCompletions, R"({"prompt":[1,2,3]})", "", "", ""},
      {Api::kCompletions, R"({"prompt":[[1,2],[3]]})", "", "", ""},
      {Api::kCompletions, R"({"prompt":null})", "", "", ""},
      {Api::kEmbeddings, R"({"input":"a","messages":7})", "", "", ""},
      {Api::kEmbeddings, R"({"input":[[1,2]]})", "", "", ""},
  };
  for (const TextRow& row : rows) {
    EXPECT_EQ(read(row.api, row.body, GateScope::kFirstUser).text, row.first_user) << row.body;
    EXPECT_EQ(read(row.api, row.body, GateScope::kHead).text, row.head) << row.body;
    EXPECT_EQ(read(row.api, row.body, GateScope::kAll).text, row.all) << row.body;
  }
}

struct TurnRow {
  std::string messages;
  std::size_t turns;
  bool images;
};

TEST(ChatRequest, TurnsAreHumans) {
  const std::vector<TurnRow> rows = {
      {R"({"role":"user","content":"a"})", 1, false},
      {R"({"role":"system","content":"a"},{"role":"assistant","content":"a"})", 0, false},
      {R"({"role":"user","content":" \n"},{"role":"user","content":[]})", 0, false},
      {R"({"role":"user","content":"a"},{"role":"user","content":"b"})", 2, false},
      {R"({"role":"user","content":"<system-reminder>x</system-reminder>"})", 0, false},
      {R"({"role":"user","content":[{"type":"image_url"}]})", 1, true},
      {R"({"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]})", 0,
       true},
      {R"({"role":"user","content":[{"type":"tool_result","content":"x"}]},
          {"role":"user","content":[{"type":"tool_result","content":"x"},"yes"]})",
       1, false},
      {R"({"role":"tool","content":[{"type":"image_url"}]})", 0, true},
  };
  for (const TurnRow& row : rows) {
    for (const GateScope scope : {GateScope::kFirstUser, GateScope::kHead, GateScope::kAll}) {
      const ChatRequest request = read(Api::kChatCompletions, chat(row.messages), scope);
      EXPECT_EQ(request.turns, row.turns) << row.messages;
      EXPECT_EQ(request.has_images, row.images) << row.messages;
    }
  }
}

TEST(ChatRequest, FirstUserIsTheSameOnEveryTurn) {
  const auto check = [](std::string_view messages, std::string_view expected) {
    EXPECT_EQ(read(Api::kChatCompletions, chat(messages)).first_user, expected) << messages;
  };
  const std::string program =
      R"({"role":"user","content":"<user_instructions>i</user_instructions>"})";
  const std::string human =
      R"({"role":"user","content":"<system-reminder>r</system-reminder>\nask"})";
  const std::string expected =
      "<user_instructions>i</user_instructions>\n<system-reminder>r</system-reminder>\nask";
  check(program + "," + human, expected);
  check(program + "," + human +
            R"(,{"role":"assistant","content":"b"},{"role":"user","content":"c"})",
        expected);
  check(R"({"role":"user","content":[{"type":"tool_result","content":"t"}]},
           {"role":"user","content":"a"})",
        "a");
  check(R"({"role":"system","content":"s"})", "");
  const auto with_image = [](std::string_view url) {
    return read(Api::kChatCompletions,
                chat(R"({"role":"user","content":["a",{"type":"image_url","image_url":{"url":")" +
                     std::string(url) + R"("}}]},{"role":"user","content":"b"})"))
        .first_user;
  };
  EXPECT_NE(with_image("x"), with_image("y"));
  EXPECT_EQ(with_image("x").size(), 2 + std::string("[image_url ]").size() + 64);
  EXPECT_EQ(read(Api::kCompletions, R"({"prompt":"p"})").first_user, "p");
  EXPECT_EQ(read(Api::kResponses, R"({"input":"p"})").first_user, "p");
}

TEST(ChatRequest, System) {
  const auto check = [](Api api, std::string_view body, std::string_view expected) {
    EXPECT_EQ(read(api, body).system, expected) << body;
  };
  check(Api::kChatCompletions,
        chat(R"({"role":"system","content":"a"},{"role":"user","content":"u"},
                                       {"role":"developer","content":["b"]})"),
        "a\nb");
  check(Api::kMessages,
        R"({"system":[{"type":"text","text":"x-anthropic-billing-header: cch=7;"},
            {"type":"text","text":"s"}],"messages":[]})",
        "s");
  check(Api::kMessages, R"({"system":null,"messages":[]})", "");
  check(Api::kResponses, R"({"instructions":"i","input":[{"role":"system","content":"s"}]})",
        "i\ns");
}

struct ModelRow {
  std::string body;
  std::string model;
  std::vector<ModelRange> ranges;
  std::string renamed;
};

TEST(ChatRequest, ModelAndItsPlaces) {
  const std::vector<ModelRow> rows = {
      {R"({"model":"a"})", "a", {{9, 12}}, R"({"model":"n\"1"})"},
      {R"({ "\u006dodel" : "\u0061b" })", "ab", {{17, 26}}, R"({ "\u006dodel" : "n\"1" })"},
      {R"({"model":"a","x":{"model":"b"},"model":"c"})",
       "c",
       {{9, 12}, {39, 42}},
       R"({"model":"n\"1","x":{"model":"b"},"model":"n\"1"})"},
      {R"({"model":"a","model":7})", "", {{9, 12}}, R"({"model":"n\"1","model":7})"},
      {R"({"model":7,"model":"a"})", "a", {{19, 22}}, R"({"model":7,"model":"n\"1"})"},
      {R"({"model":null})", "", {}, R"({"model":null})"},
      {R"({"model":["a"]})", "", {}, R"({"model":["a"]})"},
      {R"({"message":{"model":"a"}})", "", {}, R"({"message":{"model":"a"}})"},
      {R"({})", "", {}, "{}"},
      {"\xEF\xBB\xBF{\"model\":\"a\"}", "a", {{12, 15}}, "\xEF\xBB\xBF{\"model\":\"n\\\"1\"}"},
  };
  for (const ModelRow& row : rows) {
    const ChatRequest request = read(Api::kEmbeddings, row.body);
    EXPECT_EQ(request.model, row.model) << row.body;
    EXPECT_EQ(request.model_ranges, row.ranges) << row.body;
    EXPECT_EQ(with_model(row.body, request.model_ranges, "n\"1"), row.renamed);
  }
}

TEST(ChatRequest, ToolsAndSettings) {
  const auto tools = [](Api api, const std::string& members) {
    return read(api, R"({"messages":[],)" + members + "}");
  };
  EXPECT_EQ(tools(Api::kChatCompletions,
                  R"("tools":[{"type":"function","function":{"name":"b","parameters":{"name":"n"}}},
                     {"type":"function","function":{"name":"a"}},
                     {"type":"custom","custom":{"name":"c"}},
                     {"type":"function","function":{"name":"b"}}])")
                .tools,
            (Texts{"a", "b", "c"}));
  EXPECT_EQ(tools(Api::kChatCompletions, R"("functions":[{"name":"f"}])").tools, Texts{"f"});
  EXPECT_EQ(tools(Api::kMessages,
                  R"("tools":[{"name":"x","input_schema":{}},{"type":"bash_1","name":"bash"}])")
                .tools,
            (Texts{"bash", "x"}));
  EXPECT_EQ(tools(Api::kResponses, R"("tools":[{"type":"function","name":"x"},
                                     {"type":"web_search"},7])")
                .tools,
            (Texts{"web_search", "x"}));
  EXPECT_TRUE(tools(Api::kMessages, R"("tools":[{}])").has_tools);
  EXPECT_FALSE(tools(Api::kMessages, R"("tools":[])").has_tools);
  EXPECT_FALSE(tools(Api::kMessages, R"("tools":null)").has_tools);

  const auto limit = [&](Api api, const std::string& members) {
    return tools(api, members).output_tokens_max;
  };
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_tokens":5)"), 5);
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_tokens":5,"max_completion_tokens":7)"), 7);
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_tokens":5,"max_completion_tokens":null)"), 5);
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_tokens":-1)"), std::nullopt);
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_tokens":"5")"), std::nullopt);
  EXPECT_EQ(limit(Api::kChatCompletions, R"("max_output_tokens":5)"), std::nullopt);
  EXPECT_EQ(limit(Api::kResponses, R"("max_output_tokens":5)"), 5);
  EXPECT_EQ(limit(Api::kMessages, R"("max_tokens":0)"), 0);
  EXPECT_EQ(limit(Api::kMessages, R"("seed":1)"), std::nullopt);

  EXPECT_TRUE(tools(Api::kMessages, R"("stream":true)").stream);
  EXPECT_FALSE(tools(Api::kMessages, R"("stream":false)").stream);
  EXPECT_FALSE(tools(Api::kMessages, R"("stream":null)").stream);
}

TEST(ChatRequest, RefusalsNameTheMemberAndWhatWasFound) {
  const auto check = [](Api api, std::string_view body, std::string_view part) {
    const auto request = read_chat_request(api, body, {});
    ASSERT_FALSE(request.ok()) << body;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(request.error().message.find(part), std::string::npos) << request.error().message;
  };
  check(Api::kChatCompletions, "", "JSON");
  check(Api::kChatCompletions, R"({"messages":[}])", "JSON at line 1, column 14");
  check(Api::kChatCompletions, "[1]", "the body must be a JSON object; found a list");
  check(Api::kChatCompletions, "{}", "messages must be a list; it is missing");
  check(Api::kMessages, R"({"messages":"x"})", "messages must be a list; found a string");
  check(Api::kMessages, R"({"messages":null})", "messages must be a list; found null");
  check(Api::kMessages, R"({"messages":[{},"x"]})",
        "messages[1] must be an object; found a string");
  check(Api::kMessages, R"({"messages":[{"content":1}]})",
        "messages[0].content must be a string, a list of parts or null; found a number");
  check(Api::kMessages, R"({"messages":[{"role":"user","content":[1]}]})",
        "messages[0].content[0] must be an object; found a number");
  check(Api::kMessages, R"({"messages":[],"system":{}})", "system must be a string");
  check(Api::kMessages, R"({"messages":[],"tools":{}})", "tools must be a list; found an object");
  check(Api::kMessages, R"({"messages":[],"stream":1})", "stream must be true or false; found a");
  check(Api::kResponses, R"({"input":1})", "input must be a string or a list; found a number");
  check(Api::kResponses, R"({"input":["x"]})", "input[0] must be an object; found a string");
  check(Api::kResponses, R"({"instructions":true})", "instructions must be a string");
  check(Api::kCompletions, R"({"prompt":{}})",
        "prompt must be a string or a list; found an object");
  check(Api::kEmbeddings, R"({"model":"\udc00"})", "JSON at line 1");
  check(Api::kEmbeddings, "{\"x\":" + std::string(100'000, '['), "JSON");
}

TEST(ChatRequest, BothEndsAreKept) {
  const auto check = [](std::string_view text, std::int64_t max_chars, std::string_view expected) {
    const std::string body = chat("{\"role\":\"user\",\"content\":" + base::quote_json(text) + "}");
    const ChatRequest request = read(Api::kChatCompletions, body, GateScope::kFirstUser, max_chars);
    EXPECT_EQ(request.text, expected) << max_chars;
    EXPECT_EQ(request.text_bytes, text.size());
    EXPECT_EQ(request.first_user, text);
  };
  check("abcdefg", 0, "abcdefg");
  check("abcdefg", 7, "abcdefg");
  check("abcdefg", 6, "abc\n\xE2\x80\xA6\nefg");
  check("abcdefg", 5, "abc\n\xE2\x80\xA6\nfg");
  check("abcdefg", 2, "a\n\xE2\x80\xA6\ng");
  check("abcdefg", 1, "a\n\xE2\x80\xA6\n");
  check("\xE4\xB8\x80\xF0\x9F\x98\x80\xC3\xA9z", 2, "\xE4\xB8\x80\n\xE2\x80\xA6\nz");
  check("\xE4\xB8\x80\xF0\x9F\x98\x80\xC3\xA9z", 3,
        "\xE4\xB8\x80\xF0\x9F\x98\x80\n\xE2\x80\xA6\nz");
  check("\xE4\xB8\x80\xF0\x9F\x98\x80\xC3\xA9z", 4, "\xE4\xB8\x80\xF0\x9F\x98\x80\xC3\xA9z");
  EXPECT_EQ(read(Api::kCompletions, "{\"prompt\":\"\xE4\xB8\x80\xF0\x9F\x98\x80\"}").text_chars,
            2U);
}

// Bodies of the server's size limit: linear, so well under a second each.
TEST(ChatRequest, LargeBodiesTakeLinearTime) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const auto check = [](const std::string& body) {
    const std::int64_t began_ns = base::real_clock().now_ns();
    const auto request = read_chat_request(Api::kChatCompletions, body, {.scope = GateScope::kAll});
    EXPECT_LT(base::real_clock().now_ns() - began_ns, 20'000'000'000);
    return request.ok() ? request->text_bytes : 0;
  };
  std::string text;
  while (text.size() < kBytes) text += "<system-reminder> \\\"";
  EXPECT_GT(check(chat("{\"role\":\"user\",\"content\":\"" + text + "\"}")), kBytes / 2);
  EXPECT_EQ(check("{\"messages\":[],\"x\":[" + std::string(kBytes, ' ') + "]}"), 0U);
  std::string models = "{\"messages\":[]";
  while (models.size() < kBytes / 8) models += ",\"model\":\"a\"";
  EXPECT_EQ(check(models + "}"), 0U);
}

}  // namespace
}  // namespace layard::gateway
