/// Options of `layard gateway`: one table of settings, each of which may come from the command
/// line, the environment or a file, in this order. What is served, and by whom, is in the policy.
///
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event_log.h"
#include "base/settings.h"
#include "gateway/callers.h"
#include "gateway/rate_limit.h"
#include "gateway/route_policy.h"
#include "http/server.h"
#include "layard/service.h"

namespace layard::gateway {

/// Everything a gateway needs besides its policy; the environment of checkpoints is its caller's.
struct GatewayOptions {
  http::ServerOptions http;
  /// Read when `laya` is set; its `model` is what asked_model() makes of the next.
  ServiceOptions service;
  std::string model;  ///< empty: the policy's
  std::string policy_file;
  /// NAME=URL: devices besides the policy's, or the address of one that has none there.
  std::vector<std::string> backends;
  /// Requests are classified; without it the default device serves all.
  bool laya = false;
  /// A device of the policy that serves all requests which name none; `auto`: the policy decides.
  std::string device = "auto";
  bool allow_remote = false;
  std::vector<std::string> allowed_hosts;
  std::string api_key_file;
  std::vector<CallerKey> keys;  // of api_key_file
  CallerLimits limits;          // of each caller
  /// A stream that is silent so long gets a comment; 0: never.
  std::int64_t keepalive_ms = 10'000;
  /// How long a request may wait for a device that is full.
  std::int64_t queue_ms = 60'000;
  std::string decision_log;  // a file; empty: none
  bool log_text = false;     // the classified text goes into the decision log
  base::LogFormat log_format = base::LogFormat::kText;
  std::string config_file;
};

/// Who is asked: `model` where it is given, else the checkpoint of the policy's question, else the
/// starter.
std::string asked_model(const std::string& model, const RoutePolicy& policy);

/// Every setting, in the order of the help.
std::span<const base::SettingInfo> gateway_setting_table();

/// The options, with what is not set at its default, checked as a whole; the callers' keys are
/// read. Errors: kInvalidRequest naming the option, variable or member of the file, what was found
/// and what is accepted; no policy; a host that is not loopback without allow_remote or without
/// keys; kIo.
Result<GatewayOptions> read_gateway_options(const base::SettingSources& sources);

/// What `layard gateway --check` prints of them: every setting as it is in force, as JSON with
/// indent 1; of the keys only their number.
std::string print_gateway_options(const GatewayOptions& options);

}  // namespace layard::gateway
