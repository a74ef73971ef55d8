/// Starts a program the way a guard process does.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace layard::gateway {

/// How a command was started: its process, or why there is none.
struct CommandStart {
  pid_t pid = -1;
  int error = 0;                    ///< an errno value
  bool is_folder_at_fault = false;  ///< the error is of the working folder, not of the program
};

/// Where a program of this name may be, in the order to try: the name itself where it has a `/`,
/// else in the folders of `path`. Empty folders, which would mean the working one, are passed over.
std::vector<std::string> program_places(const std::string& name, std::string_view path);

/// Starts `argv` in a process group of its own, in `cwd` unless that is empty, with this process's
/// environment and standard streams, every signal as the system has it from the start, and none
/// blocked. It is killed when this process ends. A name without `/` is looked for in the folders of
/// PATH, or /usr/bin and /bin where there is no PATH; what is no program the kernel runs is an
/// error, and no shell is tried.
/// REQUIRES: the process has one thread; argv is not empty.
CommandStart exec_command(const std::vector<std::string>& argv, const std::string& cwd);

}  // namespace layard::gateway
