/// Looks after the devices: asks each for its health when that is due, and lets time pass in the
/// fleet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "gateway/child_devices.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_loop.h"
#include "gateway/gateway_setup.h"
#include "http/task.h"

namespace layard::gateway {

/// Thread-safety: start() on the loop's thread; stop() from any. Must outlive the loop's last call.
class DeviceProber {
 public:
  /// `children` (null: there are none) must outlive it.
  DeviceProber(GatewayCore& core, ChildDevices* children) : core_(core), children_(children) {}
  DeviceProber(const DeviceProber&) = delete;
  DeviceProber& operator=(const DeviceProber&) = delete;

  /// Begins on `loop`, and goes on until stop(), or until the loop ends.
  void start(GatewayLoop& loop);
  void stop() { stopped_ = true; }

  /// How often is looked at what is due.
  static constexpr std::int64_t kTickMs = 100;

 private:
  void tick(GatewayLoop& loop);
  http::Detached probe_child(GatewayLoop& loop, GatewaySetupPtr setup, std::size_t device);
  http::Detached probe(GatewayLoop& loop, GatewaySetupPtr setup, std::size_t device);
  http::Task<bool> ask(GatewayLoop& loop, const GatewaySetup& setup, std::size_t device);

  GatewayCore& core_;
  ChildDevices* const children_;
  std::set<std::size_t> asking_;  // children that are being asked; the loop's thread only
  std::atomic<bool> stopped_{false};
};

}  // namespace layard::gateway
