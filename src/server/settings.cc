#include "server/settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "base/byte_count.h"

namespace layard::server {
namespace {

using base::JsonValue;
using base::SettingInfo;
using base::SettingKind;
using Values = std::vector<std::string>;

// What one member of the options is read from and shown as.
struct Access {
  Status (*set)(ServeOptions& options, const Values& values) = nullptr;
  JsonValue (*get)(const ServeOptions& options) = nullptr;
};

// A whole number; a field of seconds may be a double.
template <auto kPart, auto kField, std::uint64_t kLeast, std::uint64_t kMost>
constexpr Access whole() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const std::uint64_t number,
                          base::read_whole(values.back(), kLeast, kMost));
            auto& field = (options.*kPart).*kField;
            field = static_cast<std::remove_reference_t<decltype(field)>>(number);
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::integer(static_cast<std::int64_t>((options.*kPart).*kField));
          }};
}

template <auto kPart, auto kField>
constexpr Access size() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const std::uint64_t bytes, base::parse_byte_count(values.back()));
            auto& field = (options.*kPart).*kField;
            field = static_cast<std::remove_reference_t<decltype(field)>>(bytes);
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::integer(static_cast<std::int64_t>((options.*kPart).*kField));
          }};
}

template <auto kPart, auto kField>
constexpr Access text() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            if (values.back().empty()) return base::setting_error("a text that is not empty", "");
            (options.*kPart).*kField = values.back();
            return {};
          },
          [](const ServeOptions& options) { return JsonValue::string((options.*kPart).*kField); }};
}

// `kWhen`: what the field becomes when the setting is true.
template <auto kPart, auto kField, bool kWhen>
constexpr Access flag() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const bool on, base::read_switch(values.back()));
            (options.*kPart).*kField = on == kWhen;
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::boolean(((options.*kPart).*kField) == kWhen);
          }};
}

constexpr Access preload() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.service.preload = values;
            return {};
          },
          [](const ServeOptions& options) {
            JsonValue out = JsonValue::array();
            for (const std::string& name : options.service.preload) {
              out.push_back(JsonValue::string(name));
            }
            return out;
          }};
}

constexpr Access device() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.service.checkpoints.device = values.back();
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::string(options.service.checkpoints.device);
          }};
}

constexpr Access dtype() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.service.checkpoints.dtype = values.back();
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::string(options.service.checkpoints.dtype);
          }};
}

constexpr Access tie_recheck() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(const bool off, base::read_switch(values.back()));
            options.service.checkpoints.tie_recheck = !off;
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::boolean(!options.service.checkpoints.tie_recheck);
          }};
}

constexpr Access calibration() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.service.checkpoints.calibration_file = values.back();
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::string(options.service.checkpoints.calibration_file);
          }};
}

constexpr Access overflow() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            const auto policy = overflow_policy_from_string(values.back());
            if (!policy.has_value()) {
              return base::setting_error("one of cut, error, windows", values.back());
            }
            options.api.overflow = *policy;
            return {};
          },
          [](const ServeOptions& options) {
            return JsonValue::string(std::string(to_string(options.api.overflow)));
          }};
}

constexpr Access allow_remote() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            LAYARD_ASSIGN(options.allow_remote, base::read_switch(values.back()));
            return {};
          },
          [](const ServeOptions& options) { return JsonValue::boolean(options.allow_remote); }};
}

constexpr Access log_format() {
  return {
      [](ServeOptions& options, const Values& values) -> Status {
        const std::string& word = values.back();
        if (word != "text" && word != "json") return base::setting_error("text or json", word);
        options.log_format = word == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
        return {};
      },
      [](const ServeOptions& options) {
        return JsonValue::string(options.log_format == base::LogFormat::kJson ? "json" : "text");
      }};
}

constexpr Access config() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.config_file = values.back();
            return {};
          },
          [](const ServeOptions& options) { return JsonValue::string(options.config_file); }};
}

constexpr Access api_key_file() {
  return {[](ServeOptions& options, const Values& values) -> Status {
            options.api_key_file = values.back();
            return {};
          },
          [](const ServeOptions& options) { return JsonValue::string(options.api_key_file); }};
}

constexpr auto kService = &ServeOptions::service;
constexpr auto kHttp = &ServeOptions::http;
constexpr auto kApi = &ServeOptions::api;
using Http = http::ServerOptions;

constexpr std::uint64_t kMsMax = 24ULL * 60 * 60 * 1000;

constexpr Setting row(SettingInfo info, Access access) { return {info, access.set, access.get}; }

constexpr SettingKind kText = SettingKind::kText;
constexpr SettingKind kSwitch = SettingKind::kSwitch;
constexpr SettingKind kWords = SettingKind::kWords;

constexpr std::array kSettings = {
    row({"config", "LAYARD_SERVE_CONFIG", SettingKind::kFile, "FILE", "",
         "JSON file of these settings, by their names with _ for -"},
        config()),
    row({"model", "LAYARD_SERVE_MODEL", SettingKind::kModel, "MODEL|auto", "starter",
         "Who answers requests that name no checkpoint"},
        text<kService, &ServiceOptions::model>()),
    row({"default_model", "LAYARD_SERVE_DEFAULT_MODEL", SettingKind::kModel, "MODEL", "laya",
         "Under auto: who answers texts whose language cannot be told"},
        text<kService, &ServiceOptions::default_model>()),
    row({"preload", "LAYARD_SERVE_PRELOAD", SettingKind::kModels, "MODEL", "",
         "Checkpoints that are loaded before the server listens, besides --model"},
        preload()),
    row({"no_load_on_demand", "LAYARD_SERVE_NO_LOAD_ON_DEMAND", kSwitch, "", "",
         "Requests load no checkpoint; only those loaded at the start answer"},
        flag<kService, &ServiceOptions::load_on_demand, false>()),
    row({"loaded_max", "LAYARD_SERVE_LOADED_MAX", kText, "SIZE", "0",
         "Weights kept loaded, by the size of their files; 0 is no bound"},
        size<kService, &ServiceOptions::loaded_bytes_max>()),
    row({"idle_unload_s", "LAYARD_SERVE_IDLE_UNLOAD_S", kText, "S", "0",
         "Unload a checkpoint that nobody asked for so long; 0 never does"},
        whole<kService, &ServiceOptions::idle_unload_s, 0, 31'536'000>()),
    row({"host", "LAYARD_SERVE_HOST", kText, "ADDRESS", "127.0.0.1",
         "Address to listen on; another than loopback needs --allow-remote and a key"},
        text<kHttp, &Http::host>()),
    row({"port", "LAYARD_SERVE_PORT", kText, "N", "8642", "Port to listen on; 0 takes a free one"},
        whole<kHttp, &Http::port, 0, 65'535>()),
    row({"allow_remote", "LAYARD_SERVE_ALLOW_REMOTE", kSwitch, "", "",
         "Allow a host that other machines reach"},
        allow_remote()),
    row({"api_key_file", "LAYARD_SERVE_API_KEY_FILE", SettingKind::kFile, "FILE", "",
         "File whose first line is the bearer key (or set LAYARD_API_KEY)"},
        api_key_file()),
    row({"device", "LAYARD_SERVE_DEVICE", kWords, "auto,cpu,gpu,npu", "auto", "Where models run"},
        device()),
    row({"dtype", "LAYARD_SERVE_DTYPE", kWords, "float32,float16,bfloat16,int8,auto", "float32",
         "Number format, as `layard predict` has it"},
        dtype()),
    row({"no_tie_recheck", "LAYARD_SERVE_NO_TIE_RECHECK", kSwitch, "", "",
         "Keep a reduced dtype's answer where float32 would decide a near tie"},
        tie_recheck()),
    row({"calibration", "LAYARD_SERVE_CALIBRATION", SettingKind::kFile, "FILE", "",
         "Temperatures in the place of the model's own: a file of fit-temperatures"},
        calibration()),
    row({"overflow", "LAYARD_SERVE_OVERFLOW", kWords, "cut,error,windows", "cut",
         "What happens to a text that does not fit, where the request does not say"},
        overflow()),
    row({"jev_strict", "LAYARD_SERVE_JEV_STRICT", kSwitch, "", "",
         "Answers hold what the hosted service sends and nothing else"},
        flag<kApi, &ApiOptions::jev_strict, true>()),
    row({"deadline_ms", "LAYARD_SERVE_DEADLINE_MS", kText, "MS", "30000",
         "How long a request may wait in the queue; 0 is no bound"},
        whole<kApi, &ApiOptions::deadline_ms, 0, kMsMax>()),
    row({"queue_requests_max", "LAYARD_SERVE_QUEUE_REQUESTS_MAX", kText, "N", "1024",
         "Requests in the queue; over it 503"},
        whole<kService, &ServiceOptions::queue_requests_max, 1, 1'000'000>()),
    row({"queue_tokens_max", "LAYARD_SERVE_QUEUE_TOKENS_MAX", kText, "N", "1048576",
         "Prompt tokens in the queue; over it 503"},
        whole<kService, &ServiceOptions::queue_tokens_max, 1, 1ULL << 40U>()),
    row({"batch_requests_max", "LAYARD_SERVE_BATCH_REQUESTS_MAX", kText, "N", "64",
         "Requests that share one forward pass"},
        whole<kService, &ServiceOptions::batch_requests_max, 1, 4096>()),
    row({"batch_tokens_max", "LAYARD_SERVE_BATCH_TOKENS_MAX", kText, "N", "8192",
         "Prompt tokens of one forward pass, beyond its first request"},
        whole<kService, &ServiceOptions::batch_tokens_max, 1, 1ULL << 24U>()),
    row({"answer_cache_max", "LAYARD_SERVE_ANSWER_CACHE_MAX", kText, "SIZE", "32MiB",
         "Memory of answers kept for equal questions; 0 keeps none"},
        size<kService, &ServiceOptions::answer_cache_bytes_max>()),
    row({"io_threads", "LAYARD_SERVE_IO_THREADS", kText, "N", "1",
         "Threads that serve connections"},
        whole<kHttp, &Http::io_threads, 1, 64>()),
    row({"connections_max", "LAYARD_SERVE_CONNECTIONS_MAX", kText, "N", "1024",
         "Open connections; over it 503"},
        whole<kHttp, &Http::connections_max, 1, 1'000'000>()),
    row({"body_max", "LAYARD_SERVE_BODY_MAX", kText, "SIZE", "2MiB",
         "A request's body, on the wire and after decompression; over it 413"},
        size<kHttp, &Http::body_bytes_max>()),
    row({"body_memory_max", "LAYARD_SERVE_BODY_MEMORY_MAX", kText, "SIZE", "256MiB",
         "All bodies together; over it 503"},
        size<kHttp, &Http::body_memory_bytes_max>()),
    row({"idle_ms", "LAYARD_SERVE_IDLE_MS", kText, "MS", "75000",
         "How long a connection may be idle between requests"},
        whole<kHttp, &Http::idle_ms, 1, kMsMax>()),
    row({"head_ms", "LAYARD_SERVE_HEAD_MS", kText, "MS", "10000",
         "How long a request's header may take"},
        whole<kHttp, &Http::head_ms, 1, kMsMax>()),
    row({"body_ms", "LAYARD_SERVE_BODY_MS", kText, "MS", "60000",
         "How long a request's body may take; over it 408"},
        whole<kHttp, &Http::body_ms, 1, kMsMax>()),
    row({"write_ms", "LAYARD_SERVE_WRITE_MS", kText, "MS", "30000",
         "How long a client may take no byte of its answer"},
        whole<kHttp, &Http::write_ms, 1, kMsMax>()),
    row({"drain_ms", "LAYARD_SERVE_DRAIN_MS", kText, "MS", "10000",
         "How long a stopping server finishes what it has begun"},
        whole<kHttp, &Http::drain_ms, 1, kMsMax>()),
    row({"log_format", "LAYARD_SERVE_LOG_FORMAT", kWords, "text,json", "text",
         "Form of the lines on stderr"},
        log_format()),
};

}  // namespace

std::span<const Setting> settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  const auto found =
      std::ranges::find(kSettings, name, [](const Setting& setting) { return setting.info.name; });
  return found == kSettings.end() ? nullptr : &*found;
}

}  // namespace layard::server
