/// The event that the mock backend streams: a chat completion chunk that says its number in the
/// stream and when it was sent, so that whoever receives it knows how long it was under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace layard::bench {

/// What an event says of itself.
struct Stamp {
  std::int64_t sequence = 0;  ///< from 0, in steps of 1
  std::int64_t sent_ns = 0;   ///< CLOCK_MONOTONIC
};

/// Writes events of one size, each as one HTTP chunk. The stamp stands in `system_fingerprint`,
/// which clients keep as it is.
class EventWriter {
 public:
  /// `event_bytes`: of one event from `data:` through its blank line; at least what the form needs.
  EventWriter(const std::string& model, std::size_t event_bytes);
  /// The next chunk; valid until the next call.
  std::string_view chunk(const Stamp& stamp);
  /// The chunks that end a stream: finish reason, usage, `[DONE]`, and the empty chunk.
  std::string last_chunks(std::int64_t events) const;

 private:
  std::string model_;
  std::string chunk_;
  std::size_t sequence_at_ = 0;
  std::size_t sent_at_ = 0;
};

/// Reads the stamp of one event; nothing for one without.
std::optional<Stamp> read_stamp(std::string_view event);

}  // namespace layard::bench
