/// Options of `layard serve`: one table of settings, each of which may come from the command line,
/// the environment or a file, in this order.
///
/// Thread-safety: plain values and pure functions.
/// Source: laya-apple 1.7.0 serve (host, port, model, key, the rule for remote hosts); the rest is
/// ours. Departs: port 0 takes a free one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/event_log.h"
#include "base/settings.h"
#include "http/server.h"
#include "layard/service.h"
#include "server/api.h"

namespace layard::server {

/// Everything a decision server needs; the environment of checkpoints is its caller's.
struct ServeOptions {
  ServiceOptions service;
  http::ServerOptions http;
  ApiOptions api;
  std::string api_key;  // empty: none is asked for
  bool allow_remote = false;
  base::LogFormat log_format = base::LogFormat::kText;
  std::string config_file;
  std::string api_key_file;
};

/// Every setting, in the order of the help. `config` (a file) and `api_key_file` are among them.
std::span<const base::SettingInfo> setting_table();

/// The options, with what is not set at its default, checked as a whole. The key is LAYARD_API_KEY,
/// else the first line of `api_key_file`.
/// Errors: kInvalidRequest naming the option, variable or member of the file, what was found and
/// what is accepted; a host that is not loopback without allow_remote or without a key; kIo.
Result<ServeOptions> read_serve_options(const base::SettingSources& sources);

/// The same from the process's environment and disk.
Result<ServeOptions> serve_options_from_process(const base::GivenSettings& flags);

/// What `layard serve --check` prints: every setting as it is in force, as JSON with indent 1; of
/// the key only whether there is one.
std::string print_serve_options(const ServeOptions& options);

}  // namespace layard::server
