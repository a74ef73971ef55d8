/// The bytes a client sent and nobody consumed yet, with at most one read under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "http/loop.h"
#include "http/task.h"

namespace layard::http {

/// Thread-safety: the loop's thread only.
class StreamReader final : private IoCompletion {
 public:
  enum class Fill : std::uint8_t {
    kData,
    kEnd,      // the client sends nothing more
    kFailed,   // the connection is broken
    kStopped,  // stop_waiting() was called
  };

  /// `on_bytes` hears of every read.
  StreamReader(Stream& stream, std::function<void(std::size_t)> on_bytes)
      : stream_(stream), on_bytes_(std::move(on_bytes)) {}

  std::string_view bytes() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t count) noexcept;

  /// Waits for more bytes than there are.
  /// REQUIRES: fewer than kBufferBytesMax bytes are there, and nobody else waits.
  Task<Fill> fill();
  /// Ends a fill() that is waiting; the read goes on for the next one.
  void stop_waiting();
  bool is_waiting() const noexcept { return arrived_.has_waiter(); }

  /// Reads ahead, as far as there is room, to notice that the client leaves: `on_gone` is called
  /// then, at most once, and may destroy the reader's owner. A client that is more than
  /// kBufferBytesMax ahead is not watched.
  void watch(std::function<void()> on_gone);
  /// Stops calling `on_gone`; a read that is under way is left to the next fill().
  void unwatch() { on_gone_ = nullptr; }

  /// Waits for the end of a read that is under way; for the end of a connection's life.
  Task<void> settle();

  static constexpr std::size_t kBufferBytesMax = 64 * 1024;

 private:
  static constexpr std::size_t kBufferBytesMin = 4 * 1024;

  void completed(IoResult result) override;
  bool make_room();
  void begin_read();

  Stream& stream_;
  std::function<void(std::size_t)> on_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool reading_ = false;
  bool stopped_ = false;
  bool last_read_small_ = true;
  Fill last_ = Fill::kData;  // how the last read ended
  Signal arrived_;
  std::function<void()> on_gone_;
};

}  // namespace layard::http
