// Words for metrics and logs.
#include <array>

#include "base/checks.h"
#include "scheduler/scheduler.h"

namespace layard::scheduler {
namespace {

constexpr std::array<std::string_view, kEndings> kEndingNames{"completed", "failed", "cancelled",
                                                              "expired", "closed"};
constexpr std::array<std::string_view, kRefusalReasons> kRefusalNames{
    "invalid", "queue_full", "client_full", "clients_full", "deadline", "closed"};

}  // namespace

std::string_view ending_name(Ending ending) {
  const auto index = static_cast<std::size_t>(ending);
  LAYARD_CHECK(index < kEndingNames.size());
  return kEndingNames[index];
}

std::string_view refusal_reason_name(RefusalReason reason) {
  const auto index = static_cast<std::size_t>(reason);
  LAYARD_CHECK(index < kRefusalNames.size());
  return kRefusalNames[index];
}

}  // namespace layard::scheduler
