#include "gateway/sse_events.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace layard::gateway {
namespace {

SseWatch watched(std::string_view text, std::size_t piece_bytes) {
  SseWatch watch;
  for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
    watch.feed(text.substr(begin, piece_bytes));
  }
  return watch;
}

// A row's line ends are none of the event's.
std::string event(std::string json) {
  std::erase(json, '\n');
  return "data: " + json + "\n\n";
}

struct Row {
  std::string text;
  std::uint64_t events = 0;
  bool boundary = true;
  bool token = false;
  bool end = false;
  bool error = false;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (std::size_t bytes = 1; bytes <= row.text.size() + 1; ++bytes) {
      const SseWatch watch = watched(row.text, bytes);
      EXPECT_EQ(watch.events(), row.events) << row.text << " in pieces of " << bytes;
      EXPECT_EQ(watch.at_boundary(), row.boundary) << row.text;
      EXPECT_EQ(watch.saw_token(), row.token) << row.text;
      EXPECT_EQ(watch.saw_end(), row.end) << row.text;
      EXPECT_EQ(watch.saw_error(), row.error) << row.text;
    }
  }
}

TEST(SseWatch, EventsAndBoundaries) {
  check({
      {"", 0, true},
      {"d", 0, false},
      {"data: {}", 0, false},
      {"data: {}\n", 0, false},
      {"data: {}\n\n", 1, true},
      {"data: {}\r\n\r\n", 1, true},
      {"data: {}\r\r", 1, true},
      {"data: {}\r\n\r\ndata: {}\r\n", 1, false},
      {": ping\n\n", 0, true},
      {": ping\n", 0, false},
      {"event: x\n\n", 0, true},
      {"\n\n\n", 0, true},
      {"data: {}\n\ndata: {}\n\n:", 2, false},
      {"data:\n\n", 0, true},
  });
}

TEST(SseWatch, TokensOfEachApi) {
  check({
      {event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})"), 1},
      {event(R"({"choices":[{"delta":{"content":null,"tool_calls":[]}}]})"), 1},
      {event(R"({"choices":[{"delta":{"content":"a"}}]})"), 1, true, true},
      {event(R"({"choices":[{"delta":{}},{"delta":{"content":"a"}}]})"), 1, true, true},
      {event(R"({"choices":[{"delta":{"reasoning_content":"a"}}]})"), 1, true, true},
      {event(R"({"choices":[{"delta":{"reasoning":"a"}}]})"), 1, true, true},
      {event(R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})"), 1, true, true},
      {event(R"({"choices":[{"delta":{"function_call":{"name":"f"}}}]})"), 1, true, true},
      {event(R"({"choices":[{"text":"a"}]})"), 1, true, true},
      {event(R"({"choices":[{"text":""}]})"), 1},
      {event(R"({"choices":[],"content":"a","delta":{"content":"a"}})"), 1},
      {event(R"({"type":"message_start","message":{"content":[]}})"), 1},
      {event(R"({"type":"content_block_start","content_block":{"type":"text","text":""}})"), 1},
      {event(R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}})"), 1, true,
       true},
      {event(R"({"type":"response.created","response":{"error":null}})"), 1},
      {event(R"({"type":"response.output_text.delta","delta":"a"})"), 1, true, true},
      {event(R"({"type":"response.function_call_arguments.delta","delta":"a"})"), 1, true, true},
      {"data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n", 1, true, true},
      {event("nonsense"), 1},
      {event("{\"choices\":[{\"text\":\"a\""), 1},
  });
}

TEST(SseWatch, EndsOfEachApi) {
  check({
      {event("[DONE]"), 1, true, false, true},
      {"data:[DONE]\r\n\r\n", 1, true, false, true},
      {"data: [DONE]\n", 0, false},
      {event("\"[DONE]\""), 1},
      {event(R"({"type":"message_stop"})"), 1, true, false, true},
      {event(R"({"type":"message_delta"})"), 1},
      {event(R"({"type":"response.completed","response":{}})"), 1, true, false, true},
      {event(R"({"type":"response.incomplete","response":{}})"), 1, true, false, true},
      {event(R"({"type":"response.failed","response":{}})"), 1, true, false, true, true},
      {event(R"({"type":"x","text":"message_stop"})"), 1},
      // Also after the first token, when events are no longer parsed for content.
      {event(R"({"choices":[{"text":"a"}]})") + event(R"({"type":"message_stop"})"), 2, true, true,
       true},
  });
}

TEST(SseWatch, ErrorsOfEachApi) {
  const std::string token = event(R"({"choices":[{"text":"a"}]})");
  check({
      {event(R"({"error":{"message":"m"}})"), 1, true, false, false, true},
      {event(R"({"error":"m"})"), 1, true, false, false, true},
      {event(R"({"error":null})"), 1},
      {event(R"({"type":"error","error":{"type":"overloaded_error"}})"), 1, true, false, false,
       true},
      {"event: error\ndata: nonsense\n\n", 1, true, false, false, true},
      {"event: errors\ndata: {}\n\n", 1},
      {"error: {\"code\":500}\n\n", 0, true, false, false, true},
      {token + event(R"({"error": {"message":"m"}})"), 2, true, true, false, true},
      {token + event(R"({"error": null})"), 2, true, true},
      {token + event(R"({"choices":[{"text":"\"error\":{}"}]})"), 2, true, true},
  });
}

TEST(SseWatch, UsageIsWhatWasSaidLast) {
  const auto check_usage = [](std::string_view text, const TokenUsage& expected) {
    for (const std::size_t bytes : {1U, 7U, 100000U}) {
      EXPECT_EQ(watched(text, bytes).usage(), expected) << text;
    }
  };
  const std::string token = event(R"({"choices":[{"text":"a"}],"usage":null})");
  check_usage(token, {});
  check_usage(token + event(R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,
                                "prompt_tokens_details":{"cached_tokens":3}}})"),
              {5, 7, 3, {}, {}});
  check_usage(
      token + event(R"({"timings":{"predicted_per_second":41.5,"prompt_ms":12,"cache_n":2}})"),
      {{}, {}, 2, 41.5, 12.0});
  check_usage(event(R"({"type":"message_start","message":{"usage":{"input_tokens":5,
                    "cache_read_input_tokens":10,"cache_creation_input_tokens":100,
                    "output_tokens":1}}})") +
                  event(R"({"type":"content_block_delta"})") +
                  event(R"({"type":"message_delta","usage":{"output_tokens":9}})"),
              {115, 9, 10, {}, {}});
  check_usage(token + event(R"({"type":"response.completed","response":{"usage":{"input_tokens":5,
                    "output_tokens":6,"input_tokens_details":{"cached_tokens":4}}}})"),
              {5, 6, 4, {}, {}});
  check_usage(token + event(R"({"usage":{"prompt_tokens":-1,"completion_tokens":"7"},
                    "timings":{"prompt_ms":-2,"predicted_per_second":1e999}})"),
              {});
}

TEST(SseWatch, TheLastEventMayLackItsEmptyLine) {
  SseWatch watch;
  watch.feed("data: [DONE]");
  EXPECT_FALSE(watch.saw_end());
  watch.finish();
  EXPECT_TRUE(watch.saw_end());
  EXPECT_EQ(watch.events(), 1U);
  watch.finish();
  EXPECT_EQ(watch.events(), 1U);
}

TEST(SseWatch, LargeEventsAreCutButCount) {
  const std::string large(3 * kSseEventBytesMax, 'x');
  SseWatch watch;
  watch.feed("data: {\"x\":\"\\\"response.completed\",\"y\":\"" + large + "\"}\n\n");
  EXPECT_FALSE(watch.saw_end());
  watch.feed("event: " + large + "\ndata: {\"type\":\"response.completed\",\"x\":\"" + large);
  watch.feed(large);
  EXPECT_FALSE(watch.saw_end());
  watch.feed("\",\"usage\":{\"input_tokens\":5}}\n\n");
  EXPECT_TRUE(watch.saw_end() && watch.saw_token() && watch.at_boundary());
  EXPECT_EQ(watch.usage(), TokenUsage());
  watch.feed(event(R"({"usage":{"input_tokens":6}})"));
  EXPECT_EQ(watch.usage().prompt_tokens, 6);
  EXPECT_EQ(watch.events(), 3U);
}

TEST(ReadUsage, WholeReplies) {
  const auto check_usage = [](std::string_view json, const TokenUsage& expected) {
    EXPECT_EQ(read_usage(json), expected) << json;
  };
  check_usage("", {});
  check_usage("[1]", {});
  check_usage("{\"usage\":null}", {});
  check_usage("{\"usage\":{\"prompt_tokens\":5}", {});
  check_usage(R"({"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":5,
                 "completion_tokens":7,"total_tokens":12},
                 "timings":{"prompt_ms":3.5,"predicted_per_second":99}})",
              {5, 7, {}, 99.0, 3.5});
  check_usage(R"({"type":"message","usage":{"input_tokens":5,"output_tokens":7}})",
              {5, 7, {}, {}, {}});
  check_usage(R"({"usage":{"input_tokens":9223372036854775807,
                 "cache_read_input_tokens":9223372036854775807}})",
              {std::int64_t{1} << 61, {}, 9223372036854775807, {}, {}});
}

}  // namespace
}  // namespace layard::gateway
