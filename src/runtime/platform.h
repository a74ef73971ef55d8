/// What this machine calls itself, and today's date.
///
/// Thread-safety: pure reads; any number of callers.
#pragma once

#include <string>
#include <string_view>

namespace layard::runtime {

/// The value of `key` in a file of `key<separator>value` lines, without quotes; or "unknown".
std::string file_field(const char* path, std::string_view key, char separator);

/// Name and numbers of the processor: `Some Processor (family 6, model 167, stepping 1)`. Machines
/// whose results or speeds may differ have different texts; "unknown" where the system does not
/// say.
std::string processor_name();

/// Today in UTC as `2026-11-30`.
std::string utc_date();

}  // namespace layard::runtime
