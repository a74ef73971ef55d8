/// What a fleet keeps of one device. Only fleet.cc includes it.
///
/// Thread-safety: under the fleet's lock, but for progress_ns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "gateway/device_health.h"
#include "gateway/fleet.h"
#include "gateway/route_policy.h"
#include "gateway/service_times.h"

namespace layard::gateway {

inline HealthRule health_rule(const DeviceProbe& probe) {
  HealthRule rule;
  rule.failures = probe.failures;
  rule.successes = probe.successes;
  rule.probe_interval_ms = probe.interval_ms;
  rule.probe_timeout_ms = probe.timeout_ms;
  return rule;
}

struct FleetWaiting {
  std::size_t class_index = 0;
  std::int64_t predicted_us = 0;
  std::int64_t deadline_ns = 0;
  QueueCallback call;
};

struct FleetDevice {
  FleetDevice(const PolicyDevice& device, std::size_t classes)
      : name(device.name),
        requests_max(device.requests_max),
        queue_max(device.queue_max),
        has_url(!device.url.empty()),
        health(health_rule(device.health),
               device.command.empty() ? DeviceState::kHealthy : DeviceState::kStarting),
        times(classes) {}

  bool has_room() const { return requests_max == 0 || in_flight < requests_max; }
  bool has_queue_room() const {
    // Without requests_max nothing would call the first one.
    return requests_max > 0 &&
           (queue_max == 0 || static_cast<std::int64_t>(waiting.size()) < queue_max);
  }

  std::string name;
  std::int64_t requests_max;
  std::int64_t queue_max;
  bool has_url;
  DeviceHealth health;
  ServiceTimes times;
  std::int64_t in_flight = 0;
  std::int64_t backlog_us = 0;
  std::map<std::uint64_t, FleetWaiting> waiting;  // numbers grow: the first came first
  bool is_probing = false;
  std::atomic<std::int64_t> progress_ns{std::numeric_limits<std::int64_t>::min()};
};

}  // namespace layard::gateway
