/// Everything that is wrong with a policy file, found in one pass: `layard route check`, and what
/// RoutePolicy::parse refuses.
///
/// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/policy_evidence.h"
#include "gateway/policy_findings.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

struct PolicyCheckOptions {
  std::string profile;       ///< evidence of another is an error; empty: any
  std::string model_sha256;  ///< evidence of another is an error; empty: any
  std::int64_t now_s = 0;    ///< seconds since 1970, UTC
  std::int64_t days_max = kEvidenceDaysMax;
};

struct PolicyCheck {
  RoutePolicy policy;  ///< of use only without errors
  PolicyFindings findings;
};

/// Reads the file and checks what its parts say about each other. In a file with `version`: classes
/// and devices that there are not, rows off the default device without evidence that carries them,
/// and names that stand twice are errors; what nothing uses is a warning. In a file without it,
/// which works as it is, only what the 1bit router refuses is an error. `name` is the file's.
PolicyCheck check_policy(std::string_view text, std::string_view name,
                         const PolicyCheckOptions& options);

}  // namespace layard::gateway
