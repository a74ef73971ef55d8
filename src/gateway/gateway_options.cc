#include "gateway/gateway_options.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/byte_count.h"
#include "base/json.h"
#include "gateway/policy_fields.h"
#include "gateway/route_policy.h"
#include "http/host_rules.h"
#include "http/target.h"

namespace layard::gateway {
namespace {

using base::JsonValue;
using base::SettingInfo;
using base::SettingKind;
using Values = base::SettingValues;

constexpr std::uint64_t kKeyFileBytesMax = 8 << 20;
constexpr std::size_t kHostsMax = 64;
constexpr std::uint64_t kMsMax = 24ULL * 60 * 60 * 1000;

struct Access {
  Status (*set)(GatewayOptions& options, const Values& values) = nullptr;
  JsonValue (*get)(const GatewayOptions& options) = nullptr;
};

struct Setting {
  SettingInfo info;
  Access access;
};

// kPath: members from the options down to the field.
template <auto kFirst, auto... kRest, class Options>
constexpr auto& field(Options& options) {
  if constexpr (sizeof...(kRest) == 0) {
    return options.*kFirst;
  } else {
    return field<kRest...>(options.*kFirst);
  }
}

template <std::uint64_t kLeast, std::uint64_t kMost, auto... kPath>
constexpr Access whole() {
  return {[](GatewayOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const std::uint64_t number,
                          base::read_whole(values.back(), kLeast, kMost));
            auto& out = field<kPath...>(options);
            out = static_cast<std::remove_reference_t<decltype(out)>>(number);
            return {};
          },
          [](const GatewayOptions& options) {
            return JsonValue::integer(static_cast<std::int64_t>(field<kPath...>(options)));
          }};
}

template <auto... kPath>
constexpr Access size() {
  return {[](GatewayOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const std::uint64_t bytes, base::parse_byte_count(values.back()));
            auto& out = field<kPath...>(options);
            out = static_cast<std::remove_reference_t<decltype(out)>>(bytes);
            return {};
          },
          [](const GatewayOptions& options) {
            return JsonValue::integer(static_cast<std::int64_t>(field<kPath...>(options)));
          }};
}

template <auto... kPath>
constexpr Access text() {
  return {
      [](GatewayOptions& options, const Values& values) -> Status {
        if (values.back().empty()) return base::setting_error("a text that is not empty", "");
        field<kPath...>(options) = values.back();
        return {};
      },
      [](const GatewayOptions& options) { return JsonValue::string(field<kPath...>(options)); }};
}

template <auto... kPath>
constexpr Access flag() {
  return {
      [](GatewayOptions& options, const Values& values) -> Status {
        LAYARD_ASSIGN(field<kPath...>(options), base::read_switch(values.back()));
        return {};
      },
      [](const GatewayOptions& options) { return JsonValue::boolean(field<kPath...>(options)); }};
}

constexpr Access allowed_hosts() {
  return {[](GatewayOptions& options, const Values& values) -> Status {
            if (values.size() > kHostsMax) return base::setting_error("at most 64 names", "more");
            for (const std::string& name : values) {
              const auto host = http::parse_host(name);
              if (!host.has_value() || host->port.has_value()) {
                return base::setting_error("names of hosts without a port", name);
              }
              options.allowed_hosts.push_back(host->host);
            }
            return {};
          },
          [](const GatewayOptions& options) {
            JsonValue out = JsonValue::array();
            for (const std::string& name : options.allowed_hosts) {
              out.push_back(JsonValue::string(name));
            }
            return out;
          }};
}

constexpr Access backends() {
  return {[](GatewayOptions& options, const Values& values) -> Status {
            if (values.size() > kPolicyEntriesMax) {
              return base::setting_error("at most 256 devices", "more");
            }
            for (const std::string& text : values) {
              const auto equals = text.find('=');
              if (equals == std::string::npos || !is_policy_name(text.substr(0, equals)) ||
                  !is_server_url(text.substr(equals + 1))) {
                return base::setting_error("NAME=URL, as in gpu0=http://127.0.0.1:9001", text);
              }
            }
            options.backends = values;
            return {};
          },
          [](const GatewayOptions& options) {
            JsonValue out = JsonValue::array();
            for (const std::string& text : options.backends) {
              out.push_back(JsonValue::string(text));
            }
            return out;
          }};
}

constexpr Access log_format() {
  return {
      [](GatewayOptions& options, const Values& values) -> Status {
        const std::string& word = values.back();
        if (word != "text" && word != "json") return base::setting_error("text or json", word);
        options.log_format = word == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
        return {};
      },
      [](const GatewayOptions& options) {
        return JsonValue::string(options.log_format == base::LogFormat::kJson ? "json" : "text");
      }};
}

using Options = GatewayOptions;
using Http = http::ServerOptions;
constexpr auto kHttp = &Options::http;
constexpr auto kLimits = &Options::limits;
constexpr SettingKind kText = SettingKind::kText;
constexpr SettingKind kSwitch = SettingKind::kSwitch;
constexpr SettingKind kWords = SettingKind::kWords;
constexpr SettingKind kFile = SettingKind::kFile;

constexpr std::array kSettings = {
    Setting{{"config", "LAYARD_GATEWAY_CONFIG", kFile, "FILE", "",
             "JSON file of these settings, by their names with _ for -"},
            text<&Options::config_file>()},
    Setting{{"policy", "LAYARD_GATEWAY_POLICY", kFile, "FILE", "",
             "Devices, and which of them serves which class; needed"},
            text<&Options::policy_file>()},
    Setting{{"backend", "LAYARD_GATEWAY_BACKEND", SettingKind::kTexts, "NAME=URL", "",
             "A device besides the policy's, or the address of one that has none there"},
            backends()},
    Setting{{"laya", "LAYARD_GATEWAY_LAYA", kSwitch, "", "",
             "Ask the model what kind of request each is; without it the default device serves "
             "all"},
            flag<&Options::laya>()},
    Setting{{"model", "LAYARD_GATEWAY_MODEL", SettingKind::kModel, "MODEL", "",
             "Who is asked (default: the checkpoint of the policy's question, else starter)"},
            text<&Options::model>()},
    Setting{{"device", "LAYARD_GATEWAY_DEVICE", kText, "NAME|auto", "auto",
             "A device that serves every request which names none; auto: the policy decides"},
            text<&Options::device>()},
    Setting{{"host", "LAYARD_GATEWAY_HOST", kText, "ADDRESS", "127.0.0.1",
             "Address to listen on; another than loopback needs --allow-remote and keys"},
            text<kHttp, &Http::host>()},
    Setting{{"port", "LAYARD_GATEWAY_PORT", kText, "N", "8643",
             "Port to listen on; 0 takes a free one"},
            whole<0, 65'535, kHttp, &Http::port>()},
    Setting{{"allow_remote", "LAYARD_GATEWAY_ALLOW_REMOTE", kSwitch, "", "",
             "Allow a host that other machines reach"},
            flag<&Options::allow_remote>()},
    Setting{{"allowed_host", "LAYARD_GATEWAY_ALLOWED_HOST", SettingKind::kTexts, "NAME", "",
             "Names that the Host field may have besides loopback's"},
            allowed_hosts()},
    Setting{{"api_key_file", "LAYARD_GATEWAY_API_KEY_FILE", kFile, "FILE", "",
             "Callers' keys, NAME KEY, one a line"},
            text<&Options::api_key_file>()},
    Setting{{"requests_per_minute", "LAYARD_GATEWAY_REQUESTS_PER_MINUTE", kText, "N", "0",
             "Requests of one caller in a minute; over it 429; 0 is no bound"},
            whole<0, 1'000'000, kLimits, &CallerLimits::per_minute>()},
    Setting{{"concurrent_max", "LAYARD_GATEWAY_CONCURRENT_MAX", kText, "N", "0",
             "Requests of one caller at once; over it 429; 0 is no bound"},
            whole<0, 1'000'000, kLimits, &CallerLimits::requests_max>()},
    Setting{{"keepalive_ms", "LAYARD_GATEWAY_KEEPALIVE_MS", kText, "MS", "10000",
             "A stream that is silent so long gets a comment; 0 never"},
            whole<0, kMsMax, &Options::keepalive_ms>()},
    Setting{{"queue_ms", "LAYARD_GATEWAY_QUEUE_MS", kText, "MS", "60000",
             "How long a request may wait for a device that is full; over it 503"},
            whole<1, kMsMax, &Options::queue_ms>()},
    Setting{{"decision_log", "LAYARD_GATEWAY_DECISION_LOG", kFile, "FILE", "",
             "One JSON object for each new decision is added to it"},
            text<&Options::decision_log>()},
    Setting{{"log_text", "LAYARD_GATEWAY_LOG_TEXT", kSwitch, "", "",
             "The decision log has the classified texts too"},
            flag<&Options::log_text>()},
    Setting{{"io_threads", "LAYARD_GATEWAY_IO_THREADS", kText, "N", "1",
             "Threads that serve connections"},
            whole<1, 64, kHttp, &Http::io_threads>()},
    Setting{{"connections_max", "LAYARD_GATEWAY_CONNECTIONS_MAX", kText, "N", "4096",
             "Open connections of clients; over it 503"},
            whole<1, 1'000'000, kHttp, &Http::connections_max>()},
    Setting{{"body_max", "LAYARD_GATEWAY_BODY_MAX", kText, "SIZE", "32MiB",
             "A request's body, on the wire and after decompression; over it 413"},
            size<kHttp, &Http::body_bytes_max>()},
    Setting{{"body_memory_max", "LAYARD_GATEWAY_BODY_MEMORY_MAX", kText, "SIZE", "512MiB",
             "All bodies together; over it 503"},
            size<kHttp, &Http::body_memory_bytes_max>()},
    Setting{{"idle_ms", "LAYARD_GATEWAY_IDLE_MS", kText, "MS", "75000",
             "How long a client's connection may be idle between requests"},
            whole<1, kMsMax, kHttp, &Http::idle_ms>()},
    Setting{{"head_ms", "LAYARD_GATEWAY_HEAD_MS", kText, "MS", "10000",
             "How long a request's header may take"},
            whole<1, kMsMax, kHttp, &Http::head_ms>()},
    Setting{{"body_ms", "LAYARD_GATEWAY_BODY_MS", kText, "MS", "60000",
             "How long a request's body may take; over it 408"},
            whole<1, kMsMax, kHttp, &Http::body_ms>()},
    Setting{{"write_ms", "LAYARD_GATEWAY_WRITE_MS", kText, "MS", "30000",
             "How long a client may take no byte of its reply"},
            whole<1, kMsMax, kHttp, &Http::write_ms>()},
    Setting{{"drain_ms", "LAYARD_GATEWAY_DRAIN_MS", kText, "MS", "30000",
             "How long a stopping gateway finishes what it has begun"},
            whole<1, kMsMax, kHttp, &Http::drain_ms>()},
    Setting{{"log_format", "LAYARD_GATEWAY_LOG_FORMAT", kWords, "text,json", "text",
             "Form of the lines on stderr"},
            log_format()},
};

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

Status check_whole(const GatewayOptions& options) {
  LAYARD_TRY(http::check_options(options.http));
  if (options.policy_file.empty()) {
    return invalid(
        "--policy is needed: the file that names the devices; docs/examples/policy.yaml shows one");
  }
  if (http::is_loopback_host(options.http.host)) return {};
  if (!options.allow_remote) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; add --allow-remote and keys, or keep "
                   "127.0.0.1");
  }
  if (options.keys.empty()) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; give callers keys with --api-key-file, so "
                   "that not everybody is served");
  }
  return {};
}

GatewayOptions defaults() {
  GatewayOptions options;
  options.http.port = 8643;
  options.http.connections_max = 4096;
  options.http.body_bytes_max = std::size_t{32} << 20;
  options.http.body_memory_bytes_max = std::size_t{512} << 20;
  options.http.drain_ms = 30'000;
  return options;
}

}  // namespace

std::string asked_model(const std::string& model, const RoutePolicy& policy) {
  if (!model.empty()) return model;
  return policy.checkpoint.empty() ? "starter" : policy.checkpoint;
}

std::span<const SettingInfo> gateway_setting_table() {
  static const std::vector<SettingInfo> table = [] {
    std::vector<SettingInfo> out;
    for (const Setting& setting : kSettings) out.push_back(setting.info);
    return out;
  }();
  return table;
}

Result<GatewayOptions> read_gateway_options(const base::SettingSources& sources) {
  GatewayOptions options = defaults();
  std::vector<base::SettingTarget> targets;
  for (const Setting& setting : kSettings) {
    targets.push_back(
        {setting.info, [&](const Values& values) { return setting.access.set(options, values); }});
  }
  LAYARD_TRY(base::read_settings(targets, sources, "layard gateway"));
  if (!options.api_key_file.empty()) {
    LAYARD_ASSIGN(const std::string text,
                  sources.files->read_text(options.api_key_file, kKeyFileBytesMax));
    LAYARD_ASSIGN(options.keys, read_caller_keys(text, options.api_key_file));
  }
  LAYARD_TRY(check_whole(options));
  return options;
}

std::string print_gateway_options(const GatewayOptions& options) {
  JsonValue out = JsonValue::object();
  for (const Setting& setting : kSettings) {
    out.set(setting.info.name, setting.access.get(options));
  }
  out.set("api_keys", JsonValue::integer(static_cast<std::int64_t>(options.keys.size())));
  return base::write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::gateway
