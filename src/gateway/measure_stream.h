/// The times and tokens of one streamed reply.
///
/// Source: OpenAI's API (Chat Completions, `usage`), llama.cpp's server (`timings`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/evidence_file.h"
#include "gateway/sse_events.h"
#include "gateway/sse_lines.h"
#include "layard/error.h"

namespace layard::gateway {

/// Is fed with the stream as it arrives. Bounds: memory of one event, of which only the first
/// kSseEventBytesMax bytes are kept. Thread-safety: one caller at a time.
class StreamTimer {
 public:
  /// `sent_ns`: when the request was sent, by the clock of the other calls.
  explicit StreamTimer(std::int64_t sent_ns) : sent_ns_(sent_ns) {}

  void feed(std::string_view bytes, std::int64_t now_ns);
  /// The stream has ended well.
  void finish(std::int64_t now_ns);

  /// Puts ttft_ms, total_ms, the tokens and where they come from into `request`.
  /// Errors: kBackendUnavailable saying what the stream lacks: an error event came, it broke off
  /// before its last event, or it has no token.
  Status result(MeasuredRequest& request) const;

 private:
  void end_event(std::int64_t now_ns);
  double ms_since_sent(std::int64_t now_ns) const;

  std::int64_t sent_ns_;
  SseWatch watch_;
  SseLines lines_;
  std::string event_;  // as it was sent
  std::int64_t tokens_seen_ = 0;
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
};

}  // namespace layard::gateway
