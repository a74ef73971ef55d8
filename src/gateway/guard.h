/// The guard process of a backend: `layard __guard`, which no person types. It starts one command,
/// watches it, and sees to it that nothing of it is left: neither when the gateway asks, nor when
/// the gateway is gone, however it went.
///
///     layard __guard --control-fd N --stop-ms MS [--cwd FOLDER] -- COMMAND ARGUMENT...
///
/// The command runs in a process group of its own, with the guard's environment and its standard
/// streams, and with nothing else that is open. What it starts becomes the guard's child when its
/// own parent is gone, so that all of it can be found. The kernel kills the command when the guard
/// is killed.
///
/// When the command ends by itself, the rest of what it started is killed at once. When it is to
/// stop - asked to (`stop`, SIGTERM, SIGINT or SIGHUP to the guard), or the gateway ended - its
/// group and what else became the guard's child get SIGTERM, and SIGKILL where they still live
/// `stop_ms` later. Its end is reported when nothing of it is left.
///
/// Source: none; ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// The word that makes the program a guard: its first argument.
inline constexpr std::string_view kGuardCommand = "__guard";

struct GuardOptions {
  int control_fd = -1;       ///< a socket with the gateway (guard_message.h)
  std::int64_t stop_ms = 0;  ///< 0 to kStopMsMax
  std::string cwd = {};      ///< empty: as it is
  std::vector<std::string> argv = {};
};

/// The guard's arguments as the gateway gives them, kGuardCommand first.
std::vector<std::string> write_guard_arguments(const GuardOptions& options);

/// What stands behind kGuardCommand. Errors: kInvalidRequest.
Result<GuardOptions> read_guard_arguments(std::span<const std::string> arguments);

/// Is the guard until nothing of its command is left. The command's end, or why it could not be
/// started, goes over the control socket. Errors: kIo, when this process cannot be a guard (no
/// socket, say); the command was not started.
/// Thread-safety: none; the process must have one thread, of which this takes signals and children.
Status run_guard(const GuardOptions& options);

}  // namespace layard::gateway
