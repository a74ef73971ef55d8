#include "gateway/gateway_metrics.h"

#include "base/metric_families.h"
#include "http/server_metrics.h"
#include "layard/version.h"

namespace layard::gateway {
namespace {

using base::MetricFamilies;
using Type = base::MetricType;

void add_devices(MetricFamilies& families, const PageInput& input) {
  const auto up = families.add("device_up", Type::kGauge, "1 where a device takes requests");
  for (const DeviceView& device : input.devices) {
    const bool is_up =
        device.state == DeviceState::kHealthy || device.state == DeviceState::kHalfOpen;
    families.put(up, {{"device", device.name}}, is_up ? 1 : 0);
  }
  const auto running =
      families.add("device_requests", Type::kGauge, "Requests that run on a device");
  for (const DeviceView& device : input.devices) {
    families.put(running, {{"device", device.name}}, static_cast<double>(device.in_flight));
  }
  const auto limit = [&](const char* name, const char* help, auto member) {
    const auto family = families.add(name, Type::kGauge, help);
    for (const PolicyDevice& device : input.setup->policy.servers) {
      families.put(family, {{"device", device.name}}, static_cast<double>(device.*member));
    }
  };
  limit("device_requests_max", "Requests that may run on a device; 0: no limit",
        &PolicyDevice::requests_max);
  limit("device_queue_max", "Requests that may wait for a device; 0: no limit of its own",
        &PolicyDevice::queue_max);
  const auto waiting =
      families.add("device_waiting", Type::kGauge, "Requests that wait for a device");
  for (const DeviceView& device : input.devices) {
    families.put(waiting, {{"device", device.name}}, static_cast<double>(device.waiting));
  }
}

void add_device_counts(MetricFamilies& families, const PageInput& input) {
  const auto replies =
      families.add("device_replies_total", Type::kCounter, "Replies of a device, by its status");
  for (const auto& [name, stats] : input.stats.devices) {
    for (const auto& [status, count] : stats.by_status) {
      families.put(replies, {{"device", name}, {"status", std::to_string(status)}},
                   static_cast<double>(count));
    }
  }
  const auto counter = [&](const char* name, const char* help, auto member) {
    const auto family = families.add(name, Type::kCounter, help);
    for (const auto& [device, stats] : input.stats.devices) {
      families.put(family, {{"device", device}}, static_cast<double>(stats.*member));
    }
  };
  counter("device_attempts_total", "Requests that were sent to a device", &DeviceStats::attempts);
  counter("device_failures_total", "Of those, failed before the first byte",
          &DeviceStats::failures);
  counter("device_cut_total", "Of those, broken off after it", &DeviceStats::cut);
  counter("device_prompt_tokens_total", "Prompt tokens, as devices said",
          &DeviceStats::prompt_tokens);
  counter("device_completion_tokens_total", "Tokens of replies, as devices said",
          &DeviceStats::completion_tokens);
  const auto first = families.add("device_first_byte_seconds", Type::kHistogram,
                                  "From a request to its reply's first byte or token");
  for (const auto& [name, stats] : input.stats.devices) {
    families.put_times(first, {{"device", name}}, kStatBoundsS, stats.first_byte.counts,
                       stats.first_byte.sum_s);
  }
  const auto total = families.add("device_request_seconds", Type::kHistogram,
                                  "From a request to its reply's last byte");
  for (const auto& [name, stats] : input.stats.devices) {
    families.put_times(total, {{"device", name}}, kStatBoundsS, stats.total.counts,
                       stats.total.sum_s);
  }
}

void add_decisions(MetricFamilies& families, const PageInput& input) {
  const auto sources = families.add("gateway_decisions_total", Type::kCounter,
                                    "Requests by what decided their class");
  for (std::size_t i = 0; i < input.stats.decisions.size(); ++i) {
    families.put(sources,
                 {{"source", std::string(decision_source_name(static_cast<DecisionSource>(i)))}},
                 static_cast<double>(input.stats.decisions[i]));
  }
  const auto classes =
      families.add("gateway_classes_total", Type::kCounter, "New decisions by their class");
  for (const auto& [name, count] : input.stats.classes) {
    families.put(classes, {{"class", name}}, static_cast<double>(count));
  }
  families.counter("gateway_decision_failures_total",
                   "Decisions that failed: the default device served",
                   input.stats.decision_failures);
  families.put_times(families.add("gateway_decision_seconds", Type::kHistogram,
                                  "How long the model was waited for"),
                     {}, kStatBoundsS, input.stats.decision.counts, input.stats.decision.sum_s);
  families.gauge("gateway_conversations", "Conversations whose class is kept",
                 static_cast<double>(input.conversations));
  families.counter("gateway_sticky_hits_total", "Turns whose class was kept", input.sticky.hits);
  families.counter("gateway_decision_log_lines_total", "Lines of the decision log",
                   input.log.written);
  families.counter("gateway_decision_log_dropped_total", "Lines that found no room",
                   input.log.dropped);
  families.counter("gateway_decision_log_failed_total", "Lines that could not be written",
                   input.log.failed);
}

void add_requests(MetricFamilies& families, const PageInput& input) {
  const auto replies = families.add("gateway_replies_total", Type::kCounter,
                                    "Requests that were answered, by API and status");
  for (std::size_t i = 0; i < kApis; ++i) {
    for (const auto& [status, count] : input.stats.replies[i]) {
      families.put(
          replies,
          {{"api", std::string(api_name(static_cast<Api>(i)))}, {"status", std::to_string(status)}},
          static_cast<double>(count));
    }
  }
  families.gauge("gateway_requests", "Requests that are being served",
                 static_cast<double>(input.stats.in_flight));
  families.counter("gateway_retries_total", "Requests that went on to another device",
                   input.stats.retries);
  families.counter("gateway_overflows_total", "Requests that went elsewhere than their class",
                   input.stats.overflows);
  families.counter("gateway_clients_gone_total", "Clients that left before their reply's end",
                   input.stats.clients_gone);
  families.counter("gateway_keepalives_total", "Comments that were put into silent streams",
                   input.stats.keepalives);
  families.put_times(
      families.add("gateway_added_seconds", Type::kHistogram,
                   "From a request's last byte to its first sending, the decision included"),
      {}, kStatBoundsS, input.stats.added.counts, input.stats.added.sum_s);
}

}  // namespace

std::string gateway_metrics_text(const PageInput& input) {
  MetricFamilies families;
  families.put(families.add("build_info", Type::kGauge, "1; the version is in the label"),
               {{"version", std::string(version())}}, 1);
  add_requests(families, input);
  add_decisions(families, input);
  add_devices(families, input);
  add_device_counts(families, input);
  families.put(families.add("gateway_policy_info", Type::kGauge, "1; the policy's hash"),
               {{"hash", input.setup->hash}}, 1);
  families.counter("gateway_policy_reloads_total", "Policies that were taken", input.reload.taken);
  families.counter("gateway_policy_reloads_refused_total", "Policies that were refused",
                   input.reload.refused);
  families.gauge("gateway_policy_reload_failed", "1 while the last reload was refused",
                 input.reload.error.empty() ? 0 : 1);
  http::add_server_metrics(families, input.http);
  return families.text();
}

}  // namespace layard::gateway
