/// Is this machine ready for Layard, and if not, what to do?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/model.h"

namespace layard {

/// One thing that was looked at.
struct Finding {
  enum class State : std::uint8_t {
    kOk,
    kWarning,  ///< it works, slower or with less than it could
    kFailed,   ///< something that was asked for does not work
  };
  std::string name;  ///< of the docs' table: `kernels`, `cache`, ...
  State state = State::kOk;
  std::string found;   ///< one line
  std::string remedy;  ///< what to do; empty with kOk
};

/// `ok`, `warning`, `failed`.
LAYARD_EXPORT std::string_view state_name(Finding::State state);

/// Looks at the processor and its kernels (running their self-test), threads and quota, memory,
/// Layard's cache (writing and removing a file of some bytes where the folder is), the hub cache
/// and checkpoints, the network switches, the devices of this build, and lets `starter` answer its
/// recorded rows. Goes nowhere over the network; loads no other checkpoint. In a fixed order, one
/// finding a name, each whatever the others found. Takes about a second. Never fails itself.
/// Thread-safety: any number of callers.
LAYARD_EXPORT std::vector<Finding> examine(const Environment& environment, bool local_files_only);

/// `{"status", "findings": [{"name", "status", "found", "remedy"}]}`, indented by one; `status` is
/// the worst, `remedy` null where there is none.
LAYARD_EXPORT std::string print_findings(const std::vector<Finding>& findings);

}  // namespace layard
