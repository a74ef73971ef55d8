#include "runtime/info.h"

#include <sys/utsname.h>

#include "backends/cpu/cpu_count.h"
#include "base/filesystem.h"
#include "base/json.h"
#include "checkpoint/hub.h"
#include "checkpoint/registry.h"
#include "kernels/kernels.h"
#include "layard/version.h"
#include "runtime/calibration_override.h"
#include "runtime/dtype_choice.h"
#include "runtime/platform.h"
#include "runtime/resolve.h"
#include "runtime/route.h"

namespace layard {
namespace {

using base::JsonValue;

JsonValue text(std::string_view value) { return JsonValue::string(std::string(value)); }

template <class Range>
JsonValue integers(const Range& values) {
  JsonValue out = JsonValue::array();
  for (const auto value : values) out.push_back(JsonValue::integer(value));
  return out;
}

JsonValue platform_json() {
  utsname system{};
  JsonValue out = JsonValue::object();
  out.set("cpu", text(runtime::file_field("/proc/cpuinfo", "model name", ':')));
  out.set("os", text(runtime::file_field("/etc/os-release", "PRETTY_NAME", '=')));
  if (uname(&system) == 0) {
    out.set("kernel", text(system.release));
    out.set("machine", text(system.machine));
  }
  return out;
}

JsonValue absent_module(const char* file) {
  JsonValue out = JsonValue::object();
  out.set("available", JsonValue::boolean(false));
  out.set("version", JsonValue::null());
  out.set("module", text(file));
  return out;
}

// What this machine can run, best first; `untested` ones run only when forced.
JsonValue isas_json() {
  JsonValue out = JsonValue::object();
  const kernels::KernelTable* tables[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(tables);
  for (std::size_t i = 0; i < count; ++i) {
    out.set(std::string(tables[i]->name),
            text(kernels::isa_recorded(tables[i]->isa) ? "tested" : "untested"));
  }
  return out;
}

Result<JsonValue> environment_json(const Environment& environment, bool local_files_only) {
  JsonValue offline = JsonValue::object();
  offline.set("local_files_only", JsonValue::boolean(local_files_only));
  offline.set("hf_hub_offline", JsonValue::boolean(environment.hub_offline));
  offline.set("effective", JsonValue::boolean(local_files_only || environment.hub_offline));
  JsonValue out = JsonValue::object();
  out.set("compiler", text(__VERSION__));
  LAYARD_ASSIGN(const kernels::KernelTable* table, runtime::choose_kernels(environment));
  out.set("isa", text(table->name));
  out.set("isa_forced", JsonValue::boolean(!environment.force_isa.empty()));
  out.set("isas", isas_json());
  out.set("threads", JsonValue::integer(environment.threads > 0 ? environment.threads
                                                                : backends::cpu::cpu_count()));
  out.set("mlx", absent_module("backend_mlx.so"));
  out.set("openvino", absent_module("backend_openvino.so"));
  out.set("offline", std::move(offline));
  out.set("cache", text(environment.cache_dir));
  out.set("hub_cache", text(environment.hub_cache_dir));
  return out;
}

JsonValue artifacts_json(const checkpoint::ModelSpec& spec) {
  JsonValue out = JsonValue::object();
  for (const std::int64_t bucket : spec.npu_buckets)
    out.set(std::to_string(bucket), text("missing"));
  return out;
}

JsonValue spec_json(const checkpoint::ModelSpec& spec, const Environment& environment) {
  JsonValue out = JsonValue::object();
  out.set("repo", text(spec.repo));
  out.set("revision", text(spec.revision));
  out.set("encoder", text(spec.encoder));
  out.set("max_len", JsonValue::integer(spec.max_len));
  JsonValue dtypes = JsonValue::array();
  for (const std::string& dtype : spec.dtypes) dtypes.push_back(text(dtype));
  out.set("dtypes", std::move(dtypes));
  out.set("npu_buckets", integers(spec.npu_buckets));
  out.set("auto_npu_buckets", integers(spec.auto_npu_buckets));
  out.set("artifacts", artifacts_json(spec));
  const auto snapshot = checkpoint::HubPaths::of(environment.hub_cache_dir, spec).snapshot;
  const auto there = base::real_filesystem().stat(snapshot / "model.safetensors");
  const bool cached = there.ok() && there->has_value();
  out.set("cached", JsonValue::boolean(cached));
  out.set("path", cached ? text(snapshot.string()) : JsonValue::null());
  return out;
}

// A folder, the starter, or a name of the models file: what its own configs say.
JsonValue folder_json(const checkpoint::ModelSource& source) {
  JsonValue out = JsonValue::object();
  out.set("repo", JsonValue::null());
  out.set("revision", JsonValue::null());
  const auto config_text = base::real_filesystem().read_text(source.folder / "rl_agent_config.json",
                                                             checkpoint::kAgentConfigBytesMax);
  const auto config = config_text.ok()
                          ? checkpoint::AgentConfig::parse(*config_text, source.folder.string())
                          : Result<checkpoint::AgentConfig>(config_text.error());
  out.set("encoder", config.ok() ? text(config->encoder) : JsonValue::null());
  out.set("max_len", config.ok() ? JsonValue::integer(config->max_len) : JsonValue::null());
  JsonValue dtypes = JsonValue::array();
  for (const std::string_view dtype : runtime::kDtypes) dtypes.push_back(text(dtype));
  out.set("dtypes", std::move(dtypes));
  out.set("npu_buckets", JsonValue::array());
  out.set("auto_npu_buckets", JsonValue::array());
  out.set("artifacts", JsonValue::object());
  out.set("cached", JsonValue::boolean(true));
  out.set("path", text(source.folder.string()));
  if (!config.ok()) out.set("error", text(config.error().message));
  return out;
}

JsonValue model_json(const checkpoint::ModelSource& source, const Environment& environment) {
  JsonValue out =
      source.folder.empty() ? spec_json(*source.spec, environment) : folder_json(source);
  if (source.mapped_away_from_pin) out.set("remapped", JsonValue::boolean(true));
  return out;
}

Status add_model(const Environment& environment, std::string_view model, JsonValue& models) {
  LAYARD_ASSIGN(const checkpoint::ModelSource source,
                checkpoint::resolve_model(model, runtime::resolve_options(environment)));
  models.set(source.name, model_json(source, environment));
  return {};
}

Result<JsonValue> models_json(const Environment& environment, std::string_view model) {
  JsonValue out = JsonValue::object();
  const auto resolve = runtime::resolve_options(environment);
  if (is_auto_model(model)) {
    for (const std::string_view name : auto_checkpoints()) {
      LAYARD_TRY(add_model(environment, name, out));
    }
    return out;
  }
  if (!model.empty()) {
    LAYARD_TRY(add_model(environment, model, out));
    return out;
  }
  const auto starter = checkpoint::resolve_model("starter", resolve);
  if (starter.ok()) {
    out.set("starter", model_json(*starter, environment));
  } else if (starter.error().code != ErrorCode::kBackendUnavailable) {
    return starter.error();  // a models file that cannot be used; not installed is no error here
  }
  for (const checkpoint::ModelSpec& spec : checkpoint::registry()) {
    LAYARD_TRY(add_model(environment, spec.name, out));
  }
  return out;
}

Result<JsonValue> info_value(const Environment& environment, bool local_files_only,
                             std::string_view model) {
  JsonValue out = JsonValue::object();
  out.set("layard", text(version()));
  out.set("platform", platform_json());
  out.set("platform_validated_for_auto_npu", JsonValue::boolean(false));
  out.set("openvino_available", JsonValue::boolean(false));
  LAYARD_ASSIGN(JsonValue environment_block, environment_json(environment, local_files_only));
  out.set("environment", std::move(environment_block));
  LAYARD_ASSIGN(JsonValue models, models_json(environment, model));
  out.set("models", std::move(models));
  if (is_auto_model(model)) {
    LAYARD_ASSIGN(const runtime::RouteTargets targets,
                  runtime::find_targets(environment, RouterOptions{}.default_model));
    out.set("router", runtime::router_json(targets));
  }
  return out;
}

}  // namespace

Result<std::string> info_json(const Environment& environment, bool local_files_only,
                              std::string_view model) {
  LAYARD_ASSIGN(const JsonValue out, info_value(environment, local_files_only, model));
  return write_json(out, base::JsonStyle::kIndent1);
}

Result<std::string> info_json(const ModelOptions& options) {
  LAYARD_ASSIGN(JsonValue out,
                info_value(options.environment, options.local_files_only, options.model));
  LAYARD_ASSIGN(JsonValue calibration, runtime::calibration_info(options));
  out.set("calibration", std::move(calibration));
  return write_json(out, base::JsonStyle::kIndent1);
}

std::string_view version() { return LAYARD_VERSION; }

namespace runtime {

std::string model_info(const ModelOptions& options, const DeviceChoice& device,
                       const LoadedModel* loaded) {
  JsonValue out = JsonValue::object();
  out.set("model", text(loaded != nullptr ? loaded->identity().name : options.model));
  out.set("revision", loaded != nullptr ? text(loaded->identity().revision) : JsonValue::null());
  out.set("device", text(options.device));
  out.set("execution", text("inline"));
  out.set("npu_placement", JsonValue::null());
  // `auto` is decided when the weights are loaded.
  const bool undecided = loaded == nullptr && options.dtype == "auto";
  out.set("dtype", undecided           ? JsonValue::null()
                   : loaded == nullptr ? text(options.dtype)
                                       : text(loaded->dtype()));
  out.set("dtype_requested", text(options.dtype));
  out.set("tie_recheck", loaded != nullptr
                             ? JsonValue::boolean(options.tie_recheck && loaded->is_reduced())
                             : JsonValue::null());
  out.set("isa", loaded != nullptr ? text(loaded->isa()) : JsonValue::null());
  if (!options.calibration_file.empty()) out.set("calibration", text(options.calibration_file));
  out.set("npu_ready", JsonValue::boolean(false));
  JsonValue auto_npu = JsonValue::object();
  auto_npu.set("unavailable",
               device.request == DeviceRequest::kAuto ? text(device.reason) : JsonValue::null());
  auto_npu.set("buckets", JsonValue::array());
  auto_npu.set("tie_buckets", JsonValue::array());
  out.set("auto_npu", std::move(auto_npu));
  const bool remapped = loaded != nullptr ? loaded->identity().remapped : is_remapped(options);
  if (remapped) out.set("remapped", JsonValue::boolean(true));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace runtime
}  // namespace layard
