/// What tests of child processes need: the test program in other roles, and looks at processes.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gateway/child_process.h"

namespace layard::testing {

/// Arguments that make the test program something else (main() of guard_test.cc).
inline constexpr const char* kShowRole = "__show";      ///< prints its arguments and surroundings
inline constexpr const char* kParentRole = "__parent";  ///< a gateway that is to be killed

/// Longer than anything here takes on a slow machine with sanitizers.
inline constexpr std::chrono::seconds kPatience{60};

/// This program's file.
inline std::string own_program() {
  std::string path(4096, '\0');
  const ssize_t count = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return path;
}

/// Whether `holds` came true in time.
inline bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// The letter of proc(5) for the process's state; 0: there is none.
inline char process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  return name_end == text.npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
}

/// Whether it does not run any more. Who adopted it may be slow to wait for it.
inline bool is_gone(pid_t pid) {
  const char state = process_state(pid);
  return state == '\0' || state == 'Z' || state == 'X';
}

/// The numbers in `text`, in order.
inline std::vector<pid_t> pids_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<pid_t> pids;
  for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
  return pids;
}

/// A spec for a shell command with what programs need.
inline gateway::ChildSpec shell(const std::string& command) {
  gateway::ChildSpec spec{.argv = {"/bin/sh", "-c", command}};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}

/// Pumps `child` until it ended; nothing when it does not.
inline std::optional<gateway::ChildEnd> wait_for_end(gateway::ChildProcess& child) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!child.ended() && std::chrono::steady_clock::now() < end) {
    std::array<pollfd, 2> watched = {pollfd{child.control_fd(), POLLIN, 0},
                                     pollfd{child.output_fd(), POLLIN, 0}};
    ::poll(watched.data(), watched.size(), 100);
    child.pump();
  }
  return child.ended();
}

}  // namespace layard::testing
