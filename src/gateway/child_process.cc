#include "gateway/child_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "gateway/guard_spawn.h"

namespace layard::gateway {
namespace {

// Longer than a guard needs to kill a command and to say so (kGuardKillMs).
constexpr std::int64_t kGuardEndMs = 8000;

std::int64_t now_ms() { return base::real_clock().now_ns() / 1'000'000; }

Error cannot_start(const std::string& program, const std::string& why) {
  return {ErrorCode::kIo, "cannot start '" + program.substr(0, 300) + "': " + why};
}

Error start_error(const std::string& program, const std::string& cwd, const GuardMessage& said) {
  const std::string reason = std::strerror(said.value);
  if (said.word == GuardWord::kNoFolder) {
    return cannot_start(program, "its working folder '" + cwd.substr(0, 300) + "': " + reason);
  }
  if (said.value == ENOENT && program.find('/') == std::string::npos) {
    return cannot_start(program, "it is in no folder of PATH; install it or give its whole path");
  }
  if (said.value == EACCES) return cannot_start(program, reason + "; it must be executable");
  if (said.value == ENOEXEC) {
    return cannot_start(program, reason + "; a script needs a first line that names its program");
  }
  return cannot_start(program, reason);
}

// Waits until one of them can be read.
void wait_readable(int first, int second, std::int64_t wait_ms) {
  std::array<pollfd, 2> watched = {pollfd{first, POLLIN, 0}, pollfd{second, POLLIN, 0}};
  (void)::poll(watched.data(), watched.size(),
               static_cast<int>(std::max<std::int64_t>(wait_ms, 0)));
}

}  // namespace

std::string child_end_text(const ChildEnd& end) {
  if (end.is_guard_lost) return "its guard process was ended, and it with it";
  if (end.exit_code) return "it ended with exit status " + std::to_string(*end.exit_code);
  const char* name = ::sigabbrev_np(end.signal);
  return "signal " + std::to_string(end.signal) +
         (name == nullptr ? "" : " (" + std::string(name) + ")") + " ended it";
}

ChildProcess::ChildProcess(pid_t guard, OwnedFd control, OwnedFd output_end, OutputRing& output)
    : guard_(guard),
      control_(std::move(control)),
      output_end_(std::move(output_end)),
      output_(output) {}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const ChildSpec& spec,
                                                          const std::string& guard_program,
                                                          OutputRing& output) {
  LAYARD_TRY(check_child_spec(spec));
  auto spawned = spawn_guard(spec, guard_program);
  if (!spawned.ok()) return cannot_start(spec.argv[0], spawned.error().message);
  std::unique_ptr<ChildProcess> child(new ChildProcess(spawned->pid, std::move(spawned->control),
                                                       std::move(spawned->output), output));
  LAYARD_TRY(child->wait_for_start(spec.argv[0], spec.cwd));
  return child;
}

ChildProcess::~ChildProcess() {
  kill();
  const std::int64_t deadline_ms = now_ms() + kGuardEndMs;
  for (std::int64_t left_ms = kGuardEndMs; !end_ && left_ms > 0; left_ms = deadline_ms - now_ms()) {
    pump();
    if (!end_) wait_readable(control_.get(), output_end_.get(), left_ms);
  }
  if (!end_) end_guard();
}

Status ChildProcess::wait_for_start(const std::string& program, const std::string& cwd) {
  const std::int64_t deadline_ms = now_ms() + kChildStartMs;
  while (!first_ && !end_) {
    const std::int64_t left_ms = deadline_ms - now_ms();
    if (left_ms <= 0) break;
    wait_readable(control_.get(), output_end_.get(), left_ms);
    pump();
  }
  if (first_ && first_->word == GuardWord::kStarted) return {};
  if (first_) return start_error(program, cwd, *first_);
  if (end_) return cannot_start(program, "its guard process ended before it could start it");
  end_guard();
  return cannot_start(program,
                      "it does not run after " + std::to_string(kChildStartMs / 1000) + " s");
}

void ChildProcess::pump() {
  if (end_) return;
  take_output();
  take_messages();
  if (control_.is_open()) return;
  take_guard_end();
  take_output();  // what came before the end, as far as it is in the pipe
  output_end_.close();
}

void ChildProcess::take_output() {
  constexpr int kRoundsMax = 8;  // of one call: others wait for their turn
  std::array<char, 32768> bytes;
  for (int round = 0; round < kRoundsMax && output_end_.is_open(); ++round) {
    const ssize_t count = ::read(output_end_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      output_.append({bytes.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      output_end_.close();
    } else {
      return;
    }
  }
}

void ChildProcess::take_messages() {
  constexpr int kMessagesMax = 8;  // a guard says two
  std::array<char, kGuardMessageBytesMax + 1> bytes;
  for (int i = 0; i < kMessagesMax && control_.is_open(); ++i) {
    const ssize_t count = ::recv(control_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      control_.close();
      return;
    }
    const auto message = read_guard_message({bytes.data(), static_cast<std::size_t>(count)});
    if (!message) continue;
    if (!first_) {
      first_ = message;
      if (message->word == GuardWord::kStarted) pid_ = message->value;
    } else if (message->word == GuardWord::kExited || message->word == GuardWord::kSignaled) {
      last_ = message;
    }
  }
}

// The socket is closed by the guard's end only, so this does not wait for anything but the kernel.
void ChildProcess::take_guard_end() {
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ChildEnd end;
  if (last_ && last_->word == GuardWord::kExited) {
    end.exit_code = last_->value;
  } else if (last_) {
    end.signal = last_->value;
  } else {
    // The kernel kills the command with its guard, but not what the command started.
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
    end.signal = SIGKILL;
    end.is_guard_lost = true;
  }
  end_ = end;
}

void ChildProcess::end_guard() {
  ::kill(guard_, SIGKILL);
  control_.close();
  take_guard_end();
}

void ChildProcess::send(GuardWord word) {
  if (!control_.is_open()) return;
  const std::string text = write_guard_message({word, 0});
  (void)::send(control_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ChildProcess::stop() { send(GuardWord::kStop); }

void ChildProcess::kill() { send(GuardWord::kKill); }

}  // namespace layard::gateway
