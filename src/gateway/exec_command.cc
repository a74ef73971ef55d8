#include "gateway/exec_command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/env.h"
#include "gateway/owned_fd.h"

namespace layard::gateway {
namespace {

struct Failure {
  int error = 0;
  int is_folder_at_fault = 0;
};

// All of it is made before the fork: behind one, memory is not to be had safely.
struct Prepared {
  std::vector<char*> argv;  // ends with null
  const std::vector<std::string>& places;
  const std::string& cwd;
  pid_t guard;
  int report_fd;
};

void tell(const Prepared& prepared, int error, bool is_folder_at_fault) {
  const Failure failure{error, is_folder_at_fault ? 1 : 0};
  (void)!::write(prepared.report_fd, &failure, sizeof failure);
}

// In the new process, before it is the command. Returns only when it cannot be.
void become_command(const Prepared& prepared) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != prepared.guard) return;  // it ended before the line above
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!prepared.cwd.empty() && ::chdir(prepared.cwd.c_str()) != 0) {
    return tell(prepared, errno, true);
  }
  int error = ENOENT;
  for (const std::string& place : prepared.places) {
    ::execv(place.c_str(), prepared.argv.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    error = errno;
    if (errno != EACCES) break;  // there is one, and it cannot be run
  }
  tell(prepared, error, false);
}

// What the new process told; nothing when it became the command.
Failure heard(int fd) {
  Failure failure;
  while (true) {
    const ssize_t count = ::read(fd, &failure, sizeof failure);
    if (count < 0 && errno == EINTR) continue;
    return count == static_cast<ssize_t>(sizeof failure) ? failure : Failure{};
  }
}

}  // namespace

std::vector<std::string> program_places(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> places;
  while (!path.empty()) {
    const std::size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    if (!folder.empty()) places.push_back(std::string(folder) + "/" + name);
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  return places;
}

CommandStart exec_command(const std::vector<std::string>& argv, const std::string& cwd) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {.error = errno};
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  const auto path = base::ProcessEnv().get("PATH");
  const auto places = program_places(argv[0], path ? *path : "/usr/bin:/bin");
  Prepared prepared{{}, places, cwd, ::getpid(), write_end.get()};
  for (const std::string& word : argv) prepared.argv.push_back(const_cast<char*>(word.c_str()));
  prepared.argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return {.error = errno};
  if (pid == 0) {
    become_command(prepared);
    ::_exit(127);  // the copy of the guard; nothing of it may run on
  }
  write_end.close();
  ::setpgid(pid, pid);  // whoever of the two is first
  const Failure failure = heard(read_end.get());
  if (failure.error == 0) return {.pid = pid};
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {.error = failure.error, .is_folder_at_fault = failure.is_folder_at_fault != 0};
}

}  // namespace layard::gateway
