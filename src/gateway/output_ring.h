/// The last part of what a child process wrote, for people who look why it does not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace layard::gateway {

/// Bytes that are kept of one child unless asked otherwise.
inline constexpr std::size_t kOutputBytes = std::size_t{64} << 10;

/// Keeps the last `bytes_max` bytes that were written to it; memory does not grow with what is
/// written. The text is the child's: it may be no UTF-8, hold control characters and users' texts,
/// so it is shown only to who asks for it and never logged.
/// Thread-safety: any number of callers.
class OutputRing {
 public:
  /// `bytes_max`: at least 1.
  explicit OutputRing(std::size_t bytes_max);

  void append(std::string_view bytes);

  /// What is kept, oldest first. Where older text was dropped it begins with a whole line, unless
  /// all that is kept is of one line: of that one, its end.
  std::string text() const;
  /// The last `count` lines of text() at most, without their line ends; one that has no end yet
  /// counts.
  std::vector<std::string> last_lines(std::size_t count) const;
  /// Bytes written since the start, kept or not.
  std::uint64_t bytes_total() const;

 private:
  std::string kept() const;  // REQUIRES: mutex_ is held

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::string buffer_;             // guarded by mutex_; grows to bytes_max_, then is a ring
  std::size_t next_ = 0;           // guarded by mutex_; where the next byte goes once it is full
  bool after_line_ = true;         // guarded by mutex_; the oldest byte begins a line
  std::uint64_t bytes_total_ = 0;  // guarded by mutex_
};

}  // namespace layard::gateway
