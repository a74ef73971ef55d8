#include "checkpoint/agent_config.h"

#include <array>
#include <utility>
#include <vector>

namespace layard::checkpoint {
namespace {

using base::JsonValue;

constexpr std::int64_t kLengthMin = 8;
constexpr std::int64_t kLengthMax = std::int64_t{1} << 20;
constexpr std::int64_t kHeadLayersMax = 64;
constexpr std::size_t kActCostsMax = 4096;
// Source: laya 0.4.15 schema, longest list of buckets is 12; more is not a calibration.
constexpr std::size_t kBucketsMax = 1024;

// Python's json reads and writes three numbers that JSON does not have, and a config with them
// loads upstream. They are carried through our parser as numbers no one writes.
struct Constant {
  std::string_view text;
  std::string_view carrier;
};
constexpr std::array<Constant, 3> kConstants{{
    {"-Infinity", "-1e999990001"},
    {"Infinity", "1e999990001"},
    {"NaN", "1e999990002"},
}};

std::string carry_constants(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    const Constant* found = nullptr;
    for (const Constant& constant : kConstants) {
      if (!in_string && found == nullptr && text.substr(i).starts_with(constant.text)) {
        found = &constant;
      }
    }
    out.append(found != nullptr ? found->carrier : text.substr(i, 1));
    i += found != nullptr ? found->text.size() : 1;
  }
  return out;
}

JsonValue restore_constant(const JsonValue& value) {
  for (const Constant& constant : kConstants) {
    if (value.is_number() && value.text() == constant.carrier) {
      return JsonValue::real_text(std::string(constant.text));
    }
  }
  return value;
}

Error unsupported(std::string_view model, const std::string& problem) {
  return {ErrorCode::kUnsupportedModel,
          "Incompatible model config for '" + std::string(model) + "': " + problem};
}

std::string shown(const JsonValue& value) {
  std::string text = base::write_json(value, base::JsonStyle::kPython);
  if (text.size() > 100) text = text.substr(0, 100) + "...";
  return text;
}

Status read_integer(const JsonValue& config, std::string_view key, std::int64_t minimum,
                    std::int64_t maximum, std::string_view model, std::int64_t& out) {
  const JsonValue* value = config.find(key);
  if (value == nullptr) return {};
  const auto number = value->as_int64();
  if (!number || *number < minimum || *number > maximum) {
    return unsupported(model, "'" + std::string(key) + "' is " + shown(*value) +
                                  ", expected a whole number from " + std::to_string(minimum) +
                                  " to " + std::to_string(maximum));
  }
  out = *number;
  return {};
}

Status read_string(const JsonValue& config, std::string_view key, std::string_view model,
                   std::string& out) {
  const JsonValue* value = config.find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string()) {
    return unsupported(model,
                       "'" + std::string(key) + "' is " + shown(*value) + ", expected a string");
  }
  out = value->text();
  return {};
}

}  // namespace

std::string_view option_layout_name(OptionLayout layout) {
  return layout == OptionLayout::kParallel ? "parallel" : "sequential";
}

Result<JsonValue> parse_agent_json(std::string_view text, std::string_view model) {
  const base::JsonLimits limits{
      .bytes_max = kAgentConfigBytesMax, .depth_max = 64, .nodes_max = 100'000};
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::kArtifactIntegrity, "rl_agent_config.json of '" + std::string(model) +
                                                    "' has " + std::to_string(text.size()) +
                                                    " bytes, more than the " +
                                                    std::to_string(limits.bytes_max) + " allowed"};
  }
  auto parsed = base::parse_json(carry_constants(text), limits);
  if (!parsed.ok()) {
    return Error{ErrorCode::kArtifactIntegrity, "rl_agent_config.json of '" + std::string(model) +
                                                    "' is not usable: " + parsed.error().message};
  }
  if (!parsed->is_object()) {
    return Error{ErrorCode::kArtifactIntegrity,
                 "rl_agent_config.json of '" + std::string(model) + "' is not a JSON object"};
  }
  return parsed;
}

Result<OptionLayout> read_option_layout(const JsonValue& config) {
  const JsonValue* value = config.find("option_layout");
  if (value == nullptr) return OptionLayout::kSequential;
  if (value->is_string() && value->text() == "sequential") return OptionLayout::kSequential;
  if (value->is_string() && value->text() == "parallel") return OptionLayout::kParallel;
  const std::string found =
      value->is_string() ? "'" + value->text().substr(0, 100) + "'" : shown(*value);
  return Error{ErrorCode::kUnsupportedModel,
               "option_layout must be one of sequential, parallel, got " + found};
}

Result<AgentConfig> read_agent_keys(const JsonValue& config, std::string_view model) {
  std::string missing;
  for (const std::string_view key : {"encoder", "head_layers"}) {
    if (config.find(key) != nullptr) continue;
    missing += (missing.empty() ? "'" : ", '") + std::string(key) + "'";
  }
  if (!missing.empty()) {
    return unsupported(model, "missing configuration keys [" + missing +
                                  "]. Point to a checkpoint in the published Laya layout");
  }
  AgentConfig out;
  LAYARD_TRY(read_string(config, "encoder", model, out.encoder));
  LAYARD_TRY(read_string(config, "amp_dtype", model, out.amp_dtype));
  LAYARD_TRY(read_string(config, "model_name", model, out.model_name));
  LAYARD_TRY(read_integer(config, "head_layers", 0, kHeadLayersMax, model, out.head_layers));
  LAYARD_TRY(read_integer(config, "max_len", kLengthMin, kLengthMax, model, out.max_len));
  LAYARD_TRY(read_integer(config, "head_max_len", kLengthMin, kLengthMax, model, out.head_max_len));
  if (const JsonValue* costs = config.find("act_costs")) {
    if (!costs->is_object() || costs->size() > kActCostsMax) {
      return unsupported(model, "'act_costs' is " + shown(*costs) +
                                    ", expected an object of at most " +
                                    std::to_string(kActCostsMax) + " entries");
    }
    out.act_outputs = static_cast<std::int64_t>(costs->size()) + 1;
  }
  if (const JsonValue* weights = config.find("weights")) {
    out.random_weights = weights->is_string() && weights->text() == "random";
  }
  if (const JsonValue* training = config.find("training")) {
    const JsonValue* steps = training->find("steps");
    out.training_recorded = steps != nullptr && steps->as_int64().value_or(0) > 0;
  }
  return out;
}

Status read_temperatures(const JsonValue& config, std::string_view model, AgentConfig& out) {
  out.temperature = JsonValue::array();
  const JsonValue* temperature = config.find("temperature");
  if (temperature == nullptr) {
    for (int i = 0; i < 3; ++i) out.temperature.push_back(JsonValue::real(1.0));
  } else if (!temperature->is_array() || temperature->size() != 3) {
    return Error{ErrorCode::kUnsupportedModel,
                 "Incompatible model: '" + std::string(model) +
                     "' temperature must be a list of 3 floats, got " + shown(*temperature)};
  } else {
    for (const JsonValue& value : temperature->items()) {
      out.temperature.push_back(restore_constant(value));
    }
  }
  out.temperature_by_options = JsonValue::object();
  const JsonValue* buckets = config.find("temperature_by_options");
  if (buckets == nullptr || buckets->is_null()) return {};
  if (!buckets->is_object() || buckets->size() > kBucketsMax) {
    return unsupported(model, "'temperature_by_options' is " + shown(*buckets) +
                                  ", expected an object of at most " + std::to_string(kBucketsMax) +
                                  " buckets");
  }
  for (const base::JsonMember& member : buckets->members()) {
    out.temperature_by_options.set(member.key, restore_constant(member.value));
  }
  return {};
}

Result<AgentConfig> AgentConfig::parse(std::string_view text, std::string_view model) {
  LAYARD_ASSIGN(const JsonValue config, parse_agent_json(text, model));
  LAYARD_ASSIGN(const OptionLayout layout, read_option_layout(config));
  LAYARD_ASSIGN(AgentConfig out, read_agent_keys(config, model));
  out.option_layout = layout;
  LAYARD_TRY(read_temperatures(config, model, out));
  return out;
}

}  // namespace layard::checkpoint
