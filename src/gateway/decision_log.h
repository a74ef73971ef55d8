/// The decision log: lines added to a file by a thread of their own, so that a slow disk holds up
/// nobody.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "base/side_thread.h"
#include "layard/error.h"

namespace layard::gateway {

struct DecisionLogCounters {
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;  ///< too many waited
  std::uint64_t failed = 0;   ///< could not be written: the disk is full, say
};

/// Bounds: kWaitingMax lines wait, of kWaitingBytesMax together. Thread-safety: any number of
/// callers.
class DecisionLog {
 public:
  static constexpr std::size_t kWaitingMax = 8192;
  static constexpr std::size_t kWaitingBytesMax = std::size_t{16} << 20;

  /// `on_failure` hears of the first failure and of each that follows a success; it is called on
  /// the log's thread. Errors: kIo when the file cannot be opened.
  static Result<std::unique_ptr<DecisionLog>> open(base::Filesystem& files, const std::string& path,
                                                   std::function<void(const Error&)> on_failure);
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;
  /// Writes what waits.
  ~DecisionLog();

  /// Adds a line; its end is the log's.
  void write(std::string line);
  DecisionLogCounters counters() const;

 private:
  DecisionLog(std::unique_ptr<base::FileWriter> file, std::function<void(const Error&)> on_failure);
  void append(const std::string& line);

  std::unique_ptr<base::FileWriter> file_;  // the thread's only
  std::function<void(const Error&)> on_failure_;
  bool failing_ = false;  // the thread's only
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::size_t> waiting_bytes_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failed_{0};
  base::SideThread thread_;  // last: it uses what is above
};

}  // namespace layard::gateway
