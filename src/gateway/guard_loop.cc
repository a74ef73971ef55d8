#include "gateway/guard_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "gateway/exec_command.h"
#include "gateway/own_children.h"

namespace layard::gateway {
namespace {

// What the kernel sends when the gateway, or its thread that started this guard, has ended.
constexpr int kGatewayEnded = SIGUSR1;
constexpr std::array kTakenSignals = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, kGatewayEnded};
// How long a kill waits before it looks for children that were made meanwhile.
constexpr int kKillRoundMs = 20;

Error failed(const std::string& what) {
  return {ErrorCode::kIo, "guard: " + what + ": " + std::strerror(errno)};
}

std::int64_t now_ns() { return base::real_clock().now_ns(); }

}  // namespace

Status GuardLoop::prepare() {
  gateway_ = ::getppid();
  const int flags = ::fcntl(options_.control_fd, F_GETFD);
  if (flags == -1 || ::fcntl(options_.control_fd, F_SETFD, flags | FD_CLOEXEC) == -1) {
    return failed("control socket " + std::to_string(options_.control_fd));
  }
  control_ = OwnedFd(options_.control_fd);
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : kTakenSignals) sigaddset(&taken, signal);
  if (::sigprocmask(SIG_BLOCK, &taken, nullptr) != 0) return failed("signals");
  std::signal(SIGCHLD, SIG_DFL);  // ignored, the ends of children would be lost
  signals_ = OwnedFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.is_open()) return failed("signals");
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return failed("becoming a subreaper");
  if (::prctl(PR_SET_PDEATHSIG, kGatewayEnded) != 0) return failed("watching the gateway");
  ::prctl(PR_SET_NAME, "layard-guard");  // only for people: a name in lists of processes
  return {};
}

bool GuardLoop::start_command() {
  const CommandStart start = exec_command(options_.argv, options_.cwd);
  if (start.pid < 0) {
    report({start.is_folder_at_fault ? GuardWord::kNoFolder : GuardWord::kFailed, start.error});
    return false;
  }
  command_ = start.pid;
  report({GuardWord::kStarted, command_});
  return true;
}

void GuardLoop::watch() {
  while (true) {
    reap();
    // What is left when the command itself ended unasked has nobody who would end it.
    if (is_command_reaped_ && phase_ == Phase::kRunning) begin_kill();
    if (are_all_gone_) break;
    if (phase_ == Phase::kStopping && ms_left() <= 0) begin_kill();
    if (phase_ == Phase::kKilling) {
      if (ms_left() <= 0) break;
      signal_all(SIGKILL);
    }
    wait_for_news();
  }
  report(end_);
}

void GuardLoop::report(const GuardMessage& message) {
  if (!control_.is_open()) return;
  const std::string text = write_guard_message(message);
  // The gateway may be gone: then there is nobody to tell.
  (void)::send(control_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void GuardLoop::reap() {
  // While the command is not waited for, its number names its group and nobody else's: the group
  // is killed before that.
  siginfo_t info{};
  if (phase_ == Phase::kRunning &&
      ::waitid(P_PID, static_cast<id_t>(command_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == command_) {
    begin_kill();
    signal_all(SIGKILL);
  }
  while (true) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) are_all_gone_ = true;
    if (pid <= 0) return;
    if (pid != command_) continue;
    is_command_reaped_ = true;
    end_ = WIFEXITED(status) ? GuardMessage{GuardWord::kExited, WEXITSTATUS(status)}
                             : GuardMessage{GuardWord::kSignaled, WTERMSIG(status)};
  }
}

void GuardLoop::begin_stop() {
  if (phase_ != Phase::kRunning) return;
  phase_ = Phase::kStopping;
  deadline_ns_ = now_ns() + options_.stop_ms * 1'000'000;
  signal_all(SIGTERM);
}

void GuardLoop::begin_kill() {
  if (phase_ == Phase::kKilling) return;
  phase_ = Phase::kKilling;
  deadline_ns_ = now_ns() + kGuardKillMs * 1'000'000;
}

void GuardLoop::signal_all(int signal) {
  if (!is_command_reaped_) ::kill(-command_, signal);
  for (const pid_t pid : own_children()) {
    if (pid != command_) ::kill(pid, signal);
  }
}

std::int64_t GuardLoop::ms_left() const {
  const std::int64_t left_ns = deadline_ns_ - now_ns();
  return left_ns <= 0 ? 0 : (left_ns + 999'999) / 1'000'000;
}

void GuardLoop::wait_for_news() {
  // A descriptor below zero is passed over.
  std::array<pollfd, 2> watched = {pollfd{control_.get(), POLLIN, 0},
                                   pollfd{signals_.get(), POLLIN, 0}};
  int wait_ms = -1;
  if (phase_ == Phase::kStopping) wait_ms = static_cast<int>(ms_left());
  if (phase_ == Phase::kKilling) wait_ms = kKillRoundMs;
  if (::poll(watched.data(), watched.size(), wait_ms) <= 0) return;
  if (watched[0].revents != 0) take_message();
  if (watched[1].revents != 0) take_signals();
}

void GuardLoop::take_message() {
  std::array<char, kGuardMessageBytesMax + 1> bytes;
  const ssize_t count = ::recv(control_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {  // the gateway is gone
    control_.close();
    begin_stop();
    return;
  }
  const auto message = read_guard_message({bytes.data(), static_cast<std::size_t>(count)});
  if (!message) return;
  if (message->word == GuardWord::kStop) begin_stop();
  if (message->word == GuardWord::kKill) begin_kill();
}

void GuardLoop::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;  // who ended is looked for after every wait
    // Also the end of one of the gateway's threads sends this.
    if (signal == kGatewayEnded && ::getppid() == gateway_) continue;
    begin_stop();
  }
}

}  // namespace layard::gateway
