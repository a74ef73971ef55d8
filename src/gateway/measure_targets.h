/// The devices of a policy as what is measured, and the machine they stand in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/filesystem.h"
#include "gateway/measure_run.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

struct TargetChoice {
  /// Names of the policy's devices; empty: all that have a URL.
  std::vector<std::string> devices;
  /// Memory of a copy of the model that only the device needs, in bytes.
  std::map<std::string, std::uint64_t, std::less<>> resident_bytes;
};

/// The devices in the order they were named, each with its address and its key from the variable or
/// file that the policy names. Errors: kInvalidRequest: a device that the policy lacks, that has no
/// URL or is named twice, no device at all, a variable that is not set; kIo: the key's file.
Result<std::vector<MeasureTarget>> measure_targets(const RoutePolicy& policy,
                                                   const TargetChoice& choice, const base::Env& env,
                                                   base::Filesystem& files);
/// The same with this process's environment and files.
Result<std::vector<MeasureTarget>> measure_targets(const RoutePolicy& policy,
                                                   const TargetChoice& choice);

/// A size such as `16GB` (base/byte_count.h). Errors: kInvalidRequest.
Result<std::uint64_t> resident_size(std::string_view text);
/// Errors: kInvalidRequest: not 64 hex digits in lower case.
Status check_model_hash(std::string_view text);

/// `AMD EPYC 9V74, 16 threads` from the text of /proc/cpuinfo; `unknown processor` where it does
/// not say.
std::string profile_text(std::string_view cpuinfo, unsigned threads);
/// Of this machine.
std::string machine_profile();

/// `2026-11-20`, UTC. Bounds: the years 1970 to 9999; others are moved to the nearest of them.
std::string date_text(std::int64_t unix_time_s);
/// By the machine's clock.
std::string date_today();

}  // namespace layard::gateway
