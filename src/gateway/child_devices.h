/// The devices of a policy that are child processes of the gateway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_setup.h"
#include "gateway/supervisor.h"
#include "layard/error.h"

namespace layard::gateway {

/// Thread-safety: any number of callers, but one apply() at a time.
class ChildDevices {
 public:
  /// Both must outlive it.
  ChildDevices(GatewayCore& core, const base::Env& env);
  ChildDevices(const ChildDevices&) = delete;
  ChildDevices& operator=(const ChildDevices&) = delete;

  /// Runs what `setup` names: starts new devices, stops those that are no more, and starts those
  /// anew whose command changed, which it waits for. A device that cannot be started does not keep
  /// the others from it. Errors: those of child_environment and Supervisor::start, of the first
  /// such device, naming it.
  Status apply(const GatewaySetup& setup);

  /// Devices of `setup` whose process runs and has not answered yet: to be probed.
  std::vector<std::size_t> unanswered(const GatewaySetup& setup) const;
  /// A probe of such a device was answered.
  void answered(const GatewaySetup& setup, std::size_t device);

  /// Ends all of them; at most about `wait_ms`.
  void stop_all(std::int64_t wait_ms);

  /// What runs, for the status page: by device.
  std::map<std::string, ChildStatus, std::less<>> statuses() const {
    return supervisor_.statuses();
  }

 private:
  // What a device was started with.
  struct Applied {
    std::string print;  // equal where it need not be started anew
    std::int64_t stop_ms = 0;
  };

  SupervisorOptions supervisor_options();
  Result<SupervisedChild> child_of(const GatewaySetup& setup, std::size_t device) const;
  void await_end(const std::string& device, std::int64_t wait_ms);
  void tell_running(const GatewaySetup& setup);
  void on_change(const ChildChange& change);

  GatewayCore& core_;
  const base::Env& env_;
  std::map<std::string, Applied> applied_;  // by device
  Supervisor supervisor_;
};

}  // namespace layard::gateway
