/// The time of day, for what other programs read: dates in protocols and records. Intervals are
/// measured with clock.h, which never goes back.
#pragma once

#include <cstdint>

namespace layard::base {

/// Seconds since 1970-01-01 00:00 UTC by the machine's clock.
std::int64_t unix_time_s();
/// The same in milliseconds.
std::int64_t unix_time_ms();

}  // namespace layard::base
