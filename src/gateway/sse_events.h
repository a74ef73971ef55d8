/// What a reply says about itself while it passes: how far its stream is and what it cost.
///
/// Source: OpenAI's API (Chat Completions, Completions, Responses), Anthropic's (Messages) and
/// llama.cpp's server (`timings`) for the forms of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "gateway/sse_lines.h"

namespace layard::gateway {

/// Bytes of one event's data that are looked at.
inline constexpr std::size_t kSseEventBytesMax = 64 * 1024;

/// What a reply counted. Nothing where it does not say, or says no number or a negative one.
struct TokenUsage {
  std::optional<std::int64_t> prompt_tokens;  ///< cached ones included, in every API
  std::optional<std::int64_t> completion_tokens;
  std::optional<std::int64_t> cached_tokens;   ///< of the prompt
  std::optional<double> predicted_per_second;  ///< tokens, as llama.cpp measured
  std::optional<double> prompt_ms;             ///< time to read the prompt, likewise

  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

/// The usage of a whole reply; of a text that is no JSON object, none. Bounds: time is linear.
TokenUsage read_usage(std::string_view json_body);

/// Watches a stream of events in pieces, however they are cut. An event counts when its empty line
/// is there. Of an event over kSseEventBytesMax only the begin is looked at: its usage is not
/// known. Bounds: memory of one event; events are parsed until one has content, then only those
/// that say usage, timings, an error or the end. Thread-safety: one caller at a time.
class SseWatch {
 public:
  void feed(std::string_view bytes);
  /// The stream has ended: a last event without its empty line counts.
  void finish();

  /// Nothing or a complete event was seen last: a comment or an event may be put in here.
  bool at_boundary() const noexcept { return at_boundary_; }
  /// Events with data.
  std::uint64_t events() const noexcept { return events_; }
  /// Some of the answer was seen: text, reasoning, a tool's call.
  bool saw_token() const noexcept { return saw_token_; }
  /// The last event by the API's rules: `[DONE]`, `message_stop`, `response.completed` (or
  /// `.incomplete`, `.failed`).
  bool saw_end() const noexcept { return saw_end_; }
  bool saw_error() const noexcept { return saw_error_; }
  /// What events said last, member by member.
  const TokenUsage& usage() const noexcept { return usage_; }

 private:
  void end_event();
  void read_event(std::string_view data);
  void read_json(const base::JsonValue& event);

  SseLines lines_;
  std::string data_;  // of the event, at most kSseEventBytesMax
  std::string name_;  // of the event, likewise bounded
  bool has_data_ = false;
  bool cut_ = false;
  bool at_boundary_ = true;
  bool saw_token_ = false;
  bool saw_end_ = false;
  bool saw_error_ = false;
  std::uint64_t events_ = 0;
  TokenUsage usage_;
};

}  // namespace layard::gateway
