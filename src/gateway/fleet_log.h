/// Changes of devices' health in the gateway's log.
#pragma once

#include "base/event_log.h"
#include "gateway/fleet.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// One line for each change: a warning where a device is lost, else information.
void log_fleet_changes(const base::EventLog& log, const RoutePolicy& policy,
                       const FleetChanges& changes);

}  // namespace layard::gateway
