/// A backend that runs as a child of this process, behind a guard process (guard.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gateway/child_spec.h"
#include "gateway/guard_message.h"
#include "gateway/output_ring.h"
#include "gateway/owned_fd.h"
#include "layard/error.h"

namespace layard::gateway {

/// The program that is the guard, with the arguments of guard.h: this process's own.
inline constexpr const char* kOwnProgram = "/proc/self/exe";
/// A command that is not running after this is taken for one that cannot be started, milliseconds.
inline constexpr std::int64_t kChildStartMs = 10000;

/// How a child ended.
struct ChildEnd {
  std::optional<int> exit_code = {};  ///< nothing: a signal ended it
  int signal = 0;
  bool is_guard_lost = false;  ///< its guard was ended by somebody, and it with it

  friend bool operator==(const ChildEnd&, const ChildEnd&) = default;
};

/// `it ended with exit status 3`, `signal 9 (KILL) ended it`.
std::string child_end_text(const ChildEnd& end);

/// One started command. It gets SIGTERM when this process ends, however it ends, and SIGKILL
/// stop_ms later. It has no descriptor of this process, whether marked close-on-exec or not; its
/// standard input is empty.
/// Thread-safety: one thread at a time. Other threads and children of the process do not matter;
/// SIGCHLD is not used.
class ChildProcess {
 public:
  /// Starts the command and waits until it runs, at most kChildStartMs. What it writes goes to
  /// `output` as far as pump() is called; `output` must outlive the child. `guard_program`: what
  /// kOwnProgram says, unless for tests.
  /// Errors: those of check_child_spec; kIo, naming the program and the reason: not found, not
  /// executable, no such working folder.
  static Result<std::unique_ptr<ChildProcess>> start(const ChildSpec& spec,
                                                     const std::string& guard_program,
                                                     OutputRing& output);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills what still runs and waits for it, seconds at most.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  pid_t guard_pid() const { return guard_; }

  /// Descriptors to poll for reading, then call pump(); -1: nothing comes any more.
  int control_fd() const { return control_.get(); }
  int output_fd() const { return output_end_.get(); }
  /// Takes what came, without waiting, a bounded amount.
  void pump();
  /// After pump(): how it ended; nothing while something of it is left.
  const std::optional<ChildEnd>& ended() const { return end_; }

  /// Asks it to end: SIGTERM, and stop_ms later SIGKILL. Returns at once.
  void stop();
  /// Ends it by SIGKILL. Returns at once.
  void kill();

 private:
  ChildProcess(pid_t guard, OwnedFd control, OwnedFd output_end, OutputRing& output);

  Status wait_for_start(const std::string& program, const std::string& cwd);
  void take_messages();
  void take_output();
  void take_guard_end();
  void send(GuardWord word);
  void end_guard();

  pid_t guard_;
  pid_t pid_ = -1;
  OwnedFd control_;
  OwnedFd output_end_;
  OutputRing& output_;
  std::optional<GuardMessage> first_;  // what the guard said of the start
  std::optional<GuardMessage> last_;   // what it said of the end
  std::optional<ChildEnd> end_;
};

}  // namespace layard::gateway
