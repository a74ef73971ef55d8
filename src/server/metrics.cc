#include "server/metrics.h"

#include <utility>

#include "base/metric_families.h"
#include "http/server_metrics.h"
#include "layard/version.h"

namespace layard::server {
namespace {

using base::MetricType;

void add_requests(base::MetricFamilies& families, const RequestStats::All& requests) {
  const auto counts = families.add("http_responses_total", MetricType::kCounter,
                                   "Requests that were answered, by endpoint and status");
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string name(endpoint_name(static_cast<Endpoint>(i)));
    for (const auto& [status, count] : requests[i].by_status) {
      families.put(counts, {{"endpoint", name}, {"status", std::to_string(status)}},
                   static_cast<double>(count));
    }
  }
  const auto times = families.add("http_request_duration_seconds", MetricType::kHistogram,
                                  "From a request's complete header to its answer");
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const EndpointStats& stats = requests[i];
    if (stats.by_status.empty()) continue;
    families.put_times(times, {{"endpoint", std::string(endpoint_name(static_cast<Endpoint>(i)))}},
                       kDurationBoundsS, stats.duration, stats.duration_s_sum);
  }
}

void add_decisions(base::MetricFamilies& families, const ServiceStats& stats) {
  families.counter("decisions_submitted_total", "Requests that came to the queue", stats.submitted);
  const auto ends = families.add("decisions_total", MetricType::kCounter,
                                 "Requests that left the queue, by how they ended");
  for (const auto& [outcome, count] :
       {std::pair<const char*, std::uint64_t>{"completed", stats.completed},
        {"failed", stats.failed},
        {"cancelled", stats.cancelled},
        {"expired", stats.expired},
        {"refused", stats.refused}}) {
    families.put(ends, {{"outcome", outcome}}, static_cast<double>(count));
  }
  families.gauge("decisions_queued", "Requests in the queue", static_cast<double>(stats.queued));
  families.gauge("decisions_running", "Requests in a forward pass",
                 static_cast<double>(stats.running));
  families.gauge("queue_tokens", "Prompt tokens in the queue",
                 static_cast<double>(stats.queued_tokens));
  families.counter("decisions_cached_total", "Completed without a forward pass", stats.cached);
  families.counter("batches_total", "Forward passes", stats.batches);
  families.counter("rows_total", "Prompt rows in them", stats.rows);
  families.counter("tokens_total", "Prompt tokens in them", stats.tokens);
  families.gauge("answer_cache_bytes", "Memory of the answer cache",
                 static_cast<double>(stats.cache_bytes));
  const auto waits = families.add("queue_wait_seconds", MetricType::kHistogram,
                                  "How long requests waited in the queue");
  std::vector<double> bounds_s;
  std::vector<std::uint64_t> counts;
  std::uint64_t below = 0;
  for (const auto& [bound_s, count] : stats.queue_wait_s) {  // cumulative, the last one infinite
    bounds_s.push_back(bound_s);
    counts.push_back(count - std::exchange(below, count));
  }
  families.put_times(waits, {}, bounds_s, counts, stats.queue_wait_s_sum);
}

void add_models(base::MetricFamilies& families, const std::vector<ServedModel>& models) {
  const auto loaded =
      families.add("model_loaded", MetricType::kGauge, "1 where a checkpoint's weights are loaded");
  for (const ServedModel& model : models) {
    families.put(loaded, {{"model", model.name}},
                 model.state == ServedModel::State::kReady ? 1 : 0);
  }
}

}  // namespace

std::string metrics_text(const MetricsInput& input) {
  base::MetricFamilies families;
  families.put(families.add("build_info", MetricType::kGauge, "1; the version is in the label"),
               {{"version", std::string(version())}}, 1);
  add_requests(families, input.requests);
  add_decisions(families, input.service);
  add_models(families, input.models);
  http::add_server_metrics(families, input.http);
  return families.text();
}

}  // namespace layard::server
