/// How a guard process starts its command and ends it (guard.h says what it promises).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "gateway/guard.h"
#include "gateway/guard_message.h"
#include "gateway/owned_fd.h"
#include "layard/error.h"

namespace layard::gateway {

/// From SIGKILL to the report, milliseconds at most: a process in an uninterruptible wait of the
/// kernel is left to it.
inline constexpr std::int64_t kGuardKillMs = 5000;

/// Thread-safety: none; the process's one thread.
class GuardLoop {
 public:
  /// `options` must outlive it.
  explicit GuardLoop(const GuardOptions& options) : options_(options) {}

  /// Makes the process a guard. Errors: kIo.
  Status prepare();
  /// Starts the command and reports that, or why not; false when it does not run.
  bool start_command();
  /// Returns when nothing of the command is left, and that was reported.
  void watch();

 private:
  enum class Phase : std::uint8_t { kRunning, kStopping, kKilling };

  void report(const GuardMessage& message);
  void reap();
  void begin_stop();
  void begin_kill();
  void signal_all(int signal);
  void wait_for_news();
  void take_message();
  void take_signals();
  std::int64_t ms_left() const;

  const GuardOptions& options_;
  pid_t gateway_ = -1;
  OwnedFd control_;
  OwnedFd signals_;
  pid_t command_ = -1;
  bool is_command_reaped_ = false;
  bool are_all_gone_ = false;  // there is no child
  GuardMessage end_{GuardWord::kSignaled, 9};
  Phase phase_ = Phase::kRunning;
  std::int64_t deadline_ns_ = 0;  // of kStopping and kKilling
};

}  // namespace layard::gateway
