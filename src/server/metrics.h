/// /metrics: what the server counts, in Prometheus' text form.
/// Thread-safety: a pure function.
/// Source: Prometheus' text format 0.0.4; the names are ours.
#pragma once

#include <string>
#include <vector>

#include "http/server.h"
#include "layard/service.h"
#include "server/request_stats.h"

namespace layard::server {

struct MetricsInput {
  ServiceStats service;
  std::vector<ServedModel> models;
  http::Counters http;
  RequestStats::All requests;
};

/// docs/serving.md lists every family. No label holds anything a client wrote.
std::string metrics_text(const MetricsInput& input);

}  // namespace layard::server
