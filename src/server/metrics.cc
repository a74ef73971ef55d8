#include "server/metrics.h"

#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>
#include <utility>

#include "http/refusal.h"
#include "layard/version.h"

namespace layard::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  MetricFamily& add(const char* name, MetricType type, const char* help) {
    families_.push_back({std::string("layard_") + name, help, type, {}});
    return families_.back();
  }
  void counter(const char* name, const char* help, std::uint64_t value) {
    put(add(name, MetricType::Counter, help), {}, static_cast<double>(value));
  }
  void gauge(const char* name, const char* help, double value) {
    put(add(name, MetricType::Gauge, help), {}, value);
  }
  static void put(MetricFamily& family, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (family.type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
    family.metric.push_back(std::move(metric));
  }
  std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return std::move(out).str();
  }

 private:
  std::vector<MetricFamily> families_;
};

void add_requests(Families& families, const RequestStats::All& requests) {
  MetricFamily& counts = families.add("http_responses_total", MetricType::Counter,
                                      "Requests that were answered, by endpoint and status");
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string name(endpoint_name(static_cast<Endpoint>(i)));
    for (const auto& [status, count] : requests[i].by_status) {
      Families::put(counts, {{"endpoint", name}, {"status", std::to_string(status)}},
                    static_cast<double>(count));
    }
  }
  MetricFamily& times = families.add("http_request_duration_seconds", MetricType::Histogram,
                                     "From a request's complete header to its answer");
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const EndpointStats& stats = requests[i];
    if (stats.by_status.empty()) continue;
    ClientMetric metric;
    metric.label = {{"endpoint", std::string(endpoint_name(static_cast<Endpoint>(i)))}};
    for (std::size_t bound = 0; bound < stats.duration.size(); ++bound) {
      metric.histogram.sample_count += stats.duration[bound];
      const double upper = bound < kDurationBoundsS.size()
                               ? kDurationBoundsS[bound]
                               : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({metric.histogram.sample_count, upper});
    }
    metric.histogram.sample_sum = stats.duration_s_sum;
    times.metric.push_back(std::move(metric));
  }
}

void add_decisions(Families& families, const ServiceStats& stats) {
  families.counter("decisions_submitted_total", "Requests that came to the queue", stats.submitted);
  MetricFamily& ends = families.add("decisions_total", MetricType::Counter,
                                    "Requests that left the queue, by how they ended");
  for (const auto& [outcome, count] :
       {std::pair<const char*, std::uint64_t>{"completed", stats.completed},
        {"failed", stats.failed},
        {"cancelled", stats.cancelled},
        {"expired", stats.expired},
        {"refused", stats.refused}}) {
    Families::put(ends, {{"outcome", outcome}}, static_cast<double>(count));
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
  MetricFamily& waits = families.add("queue_wait_seconds", MetricType::Histogram,
                                     "How long requests waited in the queue");
  ClientMetric wait;
  for (const auto& [bound, count] : stats.queue_wait_s) {
    wait.histogram.bucket.push_back({count, bound});
    wait.histogram.sample_count = count;
  }
  wait.histogram.sample_sum = stats.queue_wait_s_sum;
  waits.metric.push_back(std::move(wait));
}

void add_models(Families& families, const std::vector<ServedModel>& models) {
  MetricFamily& loaded =
      families.add("model_loaded", MetricType::Gauge, "1 where a checkpoint's weights are loaded");
  for (const ServedModel& model : models) {
    Families::put(loaded, {{"model", model.name}},
                  model.state == ServedModel::State::kReady ? 1 : 0);
  }
}

void add_connections(Families& families, const http::Counters& counters) {
  families.counter("http_connections_total", "Connections that were accepted",
                   counters.connections_accepted);
  families.gauge("http_connections", "Connections that are open",
                 static_cast<double>(counters.connections_open));
  families.counter("http_accept_errors_total", "Connections lost for want of descriptors or memory",
                   counters.accept_errors);
  families.counter("http_requests_total", "Requests whose header was read", counters.requests);
  families.gauge("http_requests_open", "Requests that are being answered",
                 static_cast<double>(counters.requests_open));
  MetricFamily& refused = families.add("http_refused_total", MetricType::Counter,
                                       "Requests and connections refused below the endpoints");
  for (const http::RefusalInfo& info : http::refusal_table()) {
    Families::put(refused, {{"reason", std::string(info.name)}},
                  static_cast<double>(counters.refused[static_cast<std::size_t>(info.reason)]));
  }
  families.counter("http_clients_gone_total", "Clients that left before their answer",
                   counters.clients_gone);
  families.counter("http_responses_cut_total", "Answers that could not be sent whole",
                   counters.responses_cut);
  families.counter("http_received_bytes_total", "Bytes from clients", counters.bytes_received);
  families.counter("http_sent_bytes_total", "Bytes to clients", counters.bytes_sent);
  families.gauge("http_body_bytes", "Memory of request bodies",
                 static_cast<double>(counters.body_memory_bytes));
}

}  // namespace

std::string metrics_text(const MetricsInput& input) {
  Families families;
  Families::put(families.add("build_info", MetricType::Gauge, "1; the version is in the label"),
                {{"version", std::string(version())}}, 1);
  add_requests(families, input.requests);
  add_decisions(families, input.service);
  add_models(families, input.models);
  add_connections(families, input.http);
  return families.text();
}

}  // namespace layard::server
