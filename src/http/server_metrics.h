/// A server's counters as metrics. docs/serving.md lists the families.
/// Thread-safety: a pure function.
#pragma once

#include "base/metric_families.h"
#include "http/server.h"

namespace layard::http {

void add_server_metrics(base::MetricFamilies& families, const Counters& counters);

}  // namespace layard::http
