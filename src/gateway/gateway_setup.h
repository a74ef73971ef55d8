/// A policy made ready to serve: the snapshot that a request is served with, from its first byte to
/// its last, whatever is reloaded meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/filesystem.h"
#include "gateway/fleet.h"
#include "gateway/gateway_options.h"
#include "gateway/request_class.h"
#include "gateway/route_policy.h"
#include "http/client_types.h"
#include "http/dial.h"
#include "http/upstream.h"
#include "layard/error.h"

namespace layard::gateway {

/// How a device is reached.
struct DeviceLink {
  http::Upstream upstream;
  http::ClientOptions client;
  http::TlsOptions tls;
  /// Equal where upstream, client and tls are: devices that may share connections.
  std::string client_key;
  std::string api_key;  ///< a secret; empty: none is sent
};

/// Thread-safety: constant after construction, but for `fleet`, which takes any number of callers.
struct GatewaySetup {
  RoutePolicy policy;          ///< its servers are those that have an address
  std::string source;          ///< the file
  std::string hash;            ///< SHA-256 of its text
  std::int64_t loaded_ms = 0;  ///< since 1970
  RouteQuestion question;
  std::vector<DeviceLink> links;  ///< one for each of policy.servers
  std::shared_ptr<Fleet> fleet;
  /// The device that serves all, by GatewayOptions::device.
  std::optional<std::size_t> forced_device;
  /// What a person should know: devices without an address.
  std::vector<std::string> warnings;

  std::vector<std::string> device_names() const;
};

using GatewaySetupPtr = std::shared_ptr<const GatewaySetup>;

/// Where a setup comes from.
struct SetupSource {
  std::string policy_file;
  std::vector<std::string> backends;  ///< NAME=URL
  std::string device = "auto";
  const base::Env* env = nullptr;
  base::Filesystem* files = nullptr;
};

/// Reads the policy and everything it names: one way for the start, `--check` and a reload.
/// Errors: kInvalidRequest: those of RoutePolicy::parse, no device with an address, a forced device
/// that is none of them, more than kPolicyEntriesMax devices, an address, key or `ca_file` that
/// cannot be used; kIo. Those of a device name it and the member, and never hold a key.
Result<GatewaySetupPtr> make_setup(const SetupSource& source);

/// The same with what the options name, from the process's environment and disk.
Result<GatewaySetupPtr> setup_from_process(const GatewayOptions& options);

}  // namespace layard::gateway
