/// How old evidence is, and whether it carries the row that rests on it.
///
/// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/route_policy.h"

namespace layard::gateway {

/// Requests that evidence should rest on, at least.
inline constexpr std::int64_t kEvidenceRequestsMin = 24;
/// Days after which evidence is called old, where nobody says otherwise.
inline constexpr std::int64_t kEvidenceDaysMax = 180;

/// Days from 1970-01-01 to a date `YYYY-MM-DD` of the Gregorian calendar; nothing for a text of
/// another form and for a day that no calendar has.
std::optional<std::int64_t> day_number(std::string_view date);

/// Whole days from `date` to the day of `now_s` (seconds since 1970, UTC); negative: in the future.
std::optional<std::int64_t> evidence_age_days(std::string_view date, std::int64_t now_s);

/// Where a row's evidence is used, and against what it is held.
struct EvidenceUse {
  std::string class_name;
  std::string device;
  std::string baseline;      ///< the policy's default device
  std::string profile;       ///< of this machine; empty: any
  std::string model_sha256;  ///< of the model served; empty: any
  std::int64_t now_s = 0;
  std::int64_t days_max = kEvidenceDaysMax;
};

struct EvidenceFault {
  bool is_error = true;
  const char* member = "";  ///< of the evidence
  std::string what;
  std::string fix;
};

/// What speaks against using `evidence` there. Errors: of another class, device, baseline, profile
/// or model; a gain outside of its interval; an interval that does not show the gain a move needs
/// (route_gain.h); a date that is none or to come. Warnings: few requests, an old date.
std::vector<EvidenceFault> evidence_faults(const PolicyEvidence& evidence, const EvidenceUse& use);

}  // namespace layard::gateway
