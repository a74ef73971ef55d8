#include "runtime/service_options.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace layard::runtime {
namespace {

// Those of the scheduler's device queue (scheduler/device_queue.cc), which would name options of
// its own.
constexpr std::uint64_t kRequestsMax = 1'000'000;
constexpr std::uint64_t kTokensMax = std::uint64_t{1} << 40U;

Status check_range(const char* option, const std::string& value, bool in_range,
                   const std::string& range) {
  if (in_range) return {};
  return Error{ErrorCode::kInvalidRequest,
               "service option " + std::string(option) + " is " + value + "; give " + range};
}

Status check_requests(const char* option, std::size_t value) {
  return check_range(option, std::to_string(value), value >= 1 && value <= kRequestsMax,
                     "1 to " + std::to_string(kRequestsMax));
}

Status check_tokens(const char* option, std::int64_t value) {
  return check_range(option, std::to_string(value),
                     value >= 1 && static_cast<std::uint64_t>(value) <= kTokensMax,
                     "1 to " + std::to_string(kTokensMax));
}

}  // namespace

Status check_service_options(const ServiceOptions& options) {
  LAYARD_TRY(check_requests("queue_requests_max", options.queue_requests_max));
  LAYARD_TRY(check_tokens("queue_tokens_max", options.queue_tokens_max));
  LAYARD_TRY(check_tokens("batch_tokens_max", options.batch_tokens_max));
  LAYARD_TRY(check_requests("batch_requests_max", options.batch_requests_max));
  return check_range("idle_unload_s", std::to_string(options.idle_unload_s),
                     std::isfinite(options.idle_unload_s) && options.idle_unload_s >= 0,
                     "a finite number of seconds, or 0 for never");
}

}  // namespace layard::runtime
