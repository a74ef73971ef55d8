#include "gateway/fleet_log.h"

#include <string>

namespace layard::gateway {

void log_fleet_changes(const base::EventLog& log, const RoutePolicy& policy,
                       const FleetChanges& changes) {
  using base::JsonValue;
  for (const FleetChange& change : changes) {
    const bool lost = change.change.to == DeviceState::kEjected;
    log.event(lost ? base::LogLevel::kWarning : base::LogLevel::kInfo, "device",
              {{"device", JsonValue::string(policy.servers[change.device].name)},
               {"from", JsonValue::string(std::string(device_state_name(change.change.from)))},
               {"to", JsonValue::string(std::string(device_state_name(change.change.to)))},
               {"by", JsonValue::string(std::string(device_sign_name(change.change.sign)))}});
  }
}

}  // namespace layard::gateway
