/// What `layard route check` says of a policy file.
///
/// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gateway/policy_check.h"

namespace layard::gateway {

/// `FILE:LINE:COLUMN: error: SENTENCE` for each finding, in the order of the file; `FILE: ...` for
/// one without a place. A last line counts those that are not shown.
std::vector<std::string> finding_lines(const PolicyFindings& findings, const std::string& file);

/// `3 errors, 1 warning`.
std::string finding_counts(const PolicyFindings& findings);

/// A first line about the whole policy, then a table of class, device, why, and age of the evidence
/// at `now_s`. Texts of the file stand in it as they are. REQUIRES: a policy without errors.
std::string policy_table(const PolicyCheck& check, const std::string& file, std::int64_t now_s);

/// `{"file", "version", "valid", "errors", "warnings", "findings", "default", "classes"}`, indented
/// by one; the last two only of a policy without errors. `strict`: not valid with a warning.
std::string policy_check_json(const PolicyCheck& check, const std::string& file, bool strict,
                              std::int64_t now_s);

/// docs/policy.schema.json, as it is.
std::string_view policy_schema();

}  // namespace layard::gateway
