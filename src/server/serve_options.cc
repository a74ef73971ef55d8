#include "server/serve_options.h"

#include <vector>

#include "http/host_rules.h"
#include "server/settings.h"

namespace layard::server {
namespace {

using base::JsonValue;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

Status check_whole(const ServeOptions& options) {
  LAYARD_TRY(http::check_options(options.http));
  if (http::is_loopback_host(options.http.host)) return {};
  if (!options.allow_remote) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; add --allow-remote and a key, or keep "
                   "127.0.0.1");
  }
  if (options.api_key.empty()) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; set LAYARD_API_KEY or --api-key-file, so "
                   "that not everybody is answered");
  }
  return {};
}

}  // namespace

std::span<const base::SettingInfo> setting_table() {
  static const std::vector<base::SettingInfo> table = [] {
    std::vector<base::SettingInfo> out;
    for (const Setting& setting : settings()) out.push_back(setting.info);
    return out;
  }();
  return table;
}

Result<ServeOptions> read_serve_options(const base::SettingSources& sources) {
  ServeOptions options;
  options.http.port = 8642;
  std::vector<base::SettingTarget> targets;
  for (const Setting& setting : settings()) {
    targets.push_back({setting.info, [&](const base::SettingValues& values) {
                         return setting.set(options, values);
                       }});
  }
  LAYARD_TRY(base::read_settings(targets, sources, "layard serve"));
  LAYARD_ASSIGN(options.api_key, base::read_key(sources, "LAYARD_API_KEY", options.api_key_file));
  LAYARD_TRY(check_whole(options));
  return options;
}

Result<ServeOptions> serve_options_from_process(const base::GivenSettings& flags) {
  const base::ProcessEnv env;
  return read_serve_options({flags, &env, &base::real_filesystem()});
}

std::string print_serve_options(const ServeOptions& options) {
  JsonValue out = JsonValue::object();
  for (const Setting& setting : settings()) out.set(setting.info.name, setting.get(options));
  out.set("api_key", JsonValue::boolean(!options.api_key.empty()));
  return base::write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::server
