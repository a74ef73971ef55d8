/// /metrics of the gateway, in Prometheus' text form. docs/gateway.md lists every family.
/// Thread-safety: a pure function.
#pragma once

#include <string>

#include "gateway/gateway_pages.h"

namespace layard::gateway {

/// Labels hold names of the policy and of statuses, nothing that a client wrote.
std::string gateway_metrics_text(const PageInput& input);

}  // namespace layard::gateway
