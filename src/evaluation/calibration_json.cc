#include "evaluation/calibration_json.h"

#include <utility>

#include "layard/version.h"

namespace layard::evaluation {
namespace {

using base::JsonValue;

JsonValue integer(std::size_t value) {
  return JsonValue::integer(static_cast<std::int64_t>(value));
}

JsonValue numbers(const std::map<std::string, double>& values) {
  JsonValue out = JsonValue::object();
  for (const auto& [name, value] : values) out.set(name, JsonValue::real(value));
  return out;
}

JsonValue binning_json(const std::map<std::string, std::vector<double>>& binning) {
  JsonValue out = JsonValue::object();
  for (const auto& [bucket, values] : binning) {
    JsonValue list = JsonValue::array();
    for (const double value : values) list.push_back(JsonValue::real(value));
    JsonValue one = JsonValue::object();
    one.set("bins", integer(values.size()));
    one.set("values", std::move(list));
    out.set(bucket, std::move(one));
  }
  return out;
}

JsonValue own_member(const CalibrationContent& content) {
  JsonValue counted = JsonValue::object();
  for (const auto& [name, count] : content.counted) {
    if (name.find(':') != std::string::npos) counted.set(name, integer(count));
  }
  JsonValue clamped = JsonValue::array();
  for (const std::string& name : content.temperatures.clamped) {
    clamped.push_back(JsonValue::string(name));
  }
  JsonValue out = JsonValue::object();
  out.set("version", JsonValue::string(std::string(layard::version())));
  out.set("weights_sha256", JsonValue::string(content.weights_sha256));
  out.set("dtype", JsonValue::string(content.dtype));
  out.set("questions", integer(content.questions));
  out.set("bucket_floor", integer(content.options.bucket_floor));
  out.set("type_floor", integer(content.options.type_floor));
  out.set("n_by_bucket", std::move(counted));
  out.set("temperature_clamped", std::move(clamped));
  out.set("target_error", JsonValue::real(content.options.target_error));
  out.set("abstention_floor", integer(kThresholdFloor));
  out.set("abstention_thresholds", numbers(content.thresholds));
  return out;
}

}  // namespace

std::string calibration_json(const CalibrationContent& content) {
  JsonValue temperature = JsonValue::array();
  for (const double value : content.temperatures.by_type) {
    temperature.push_back(JsonValue::real(value));
  }
  JsonValue config = content.config;
  config.erase("temperature");
  config.erase("temperature_by_options");
  JsonValue out = JsonValue::object();
  out.set("version", JsonValue::integer(2));
  out.set("temperature", std::move(temperature));
  out.set("temperature_by_options", numbers(content.temperatures.by_bucket));
  out.set("model_id_or_path", JsonValue::string(content.model));
  out.set("subfolder", JsonValue::null());
  out.set("config", std::move(config));
  if (content.options.binning_map) out.set("binning_map", binning_json(content.binning));
  out.set("layard", own_member(content));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::evaluation
