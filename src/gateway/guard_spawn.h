/// Starts a guard process (guard.h).
#pragma once

#include <sys/types.h>

#include <string>

#include "gateway/child_spec.h"
#include "gateway/owned_fd.h"
#include "layard/error.h"

namespace layard::gateway {

/// A guard that runs, in a process group of its own.
struct SpawnedGuard {
  pid_t pid = -1;   ///< to be waited for by who has this
  OwnedFd control;  ///< a SOCK_SEQPACKET socket (guard_message.h)
  OwnedFd output;   ///< what the guard's command writes; reads do not wait
};

/// Starts `program` as the guard of `spec`, with the command's variables. It has no descriptor of
/// this process but its end of the socket and of the pipe, no signal blocked, and none ignored.
/// Errors: kIo. Thread-safety: any number of callers.
Result<SpawnedGuard> spawn_guard(const ChildSpec& spec, const std::string& program);

}  // namespace layard::gateway
