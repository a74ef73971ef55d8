#include "gateway/guard_spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "gateway/guard.h"

namespace layard::gateway {
namespace {

// The guard's end of the socket, right behind its standard streams.
constexpr int kControlFd = 3;

Error failed(const std::string& what, int error) {
  return {ErrorCode::kIo, "its guard process: " + what + ": " + std::strerror(error)};
}

// The same open file under a number behind those the guard uses: none of them is in the way when
// the guard's are put in their places.
Result<OwnedFd> out_of_the_way(int fd) {
  const OwnedFd here(fd);
  OwnedFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kControlFd + 1));
  if (!moved.is_open()) return failed("descriptors", errno);
  return moved;
}

// posix_spawn's lists, freed with it.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // 0 or an errno value.
  int prepare(int control, int output) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    const int results[] = {
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, control, kControlFd),
        // Libraries open descriptors that a new program would inherit.
        posix_spawn_file_actions_addclosefrom_np(&actions_, kControlFd + 1),
        posix_spawnattr_setsigmask(&attributes_, &none),
        posix_spawnattr_setsigdefault(&attributes_, &all),
        posix_spawnattr_setpgroup(&attributes_, 0),
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
    };
    for (const int result : results) {
      if (result != 0) return result;
    }
    return 0;
  }

  // 0 or an errno value.
  int spawn(const std::string& program, char** argv, char** environment, pid_t& pid) {
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv, environment);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// As a C array of C strings; valid as long as `words` is.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<SpawnedGuard> spawn_guard(const ChildSpec& spec, const std::string& program) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return failed("socket", errno);
  }
  SpawnedGuard guard;
  guard.control = OwnedFd(sockets[0]);
  LAYARD_ASSIGN(const OwnedFd control, out_of_the_way(sockets[1]));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("pipe", errno);
  guard.output = OwnedFd(ends[0]);
  LAYARD_ASSIGN(const OwnedFd output, out_of_the_way(ends[1]));
  if (::fcntl(guard.output.get(), F_SETFL, O_NONBLOCK) != 0) return failed("pipe", errno);

  std::vector<std::string> arguments = write_guard_arguments(
      {.control_fd = kControlFd, .stop_ms = spec.stop_ms, .cwd = spec.cwd, .argv = spec.argv});
  arguments.insert(arguments.begin(), "layard");
  std::vector<std::string> variables;
  for (const auto& [name, value] : spec.environment) variables.push_back(name + "=" + value);
  SpawnPlan plan;
  int error = plan.prepare(control.get(), output.get());
  if (error == 0) {
    error = plan.spawn(program, pointers(arguments).data(), pointers(variables).data(), guard.pid);
  }
  if (error != 0) return failed(program, error);
  return guard;
}

}  // namespace layard::gateway
