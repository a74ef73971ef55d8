#include "decision/calibration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "base/python_number.h"
#include "decision/python_text.h"

namespace layard::decision {
namespace {

using base::JsonValue;

// Removes single underscores between digits, as Python's float() allows; nothing on a misplaced
// one.
std::optional<std::string> without_underscores(std::string_view text) {
  const auto digit = [&text](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return std::nullopt;
    }
  }
  return out;
}

// float(text), finite results only: every other outcome is replaced by 1 alike.
std::optional<double> parse_python_float(std::string_view text) {
  const auto plain = without_underscores(python_strip(text));
  if (!plain) return std::nullopt;
  std::string_view number = *plain;
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.remove_prefix(1);
  // from_chars also reads "inf" and "nan"; a digit or a point must come first here.
  if (number.empty() || !((number[0] >= '0' && number[0] <= '9') || number[0] == '.')) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end != number.data() + number.size() || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) value = base::parse_json_double(number);
  if (!std::isfinite(value)) return std::nullopt;
  return negative ? -value : value;
}

std::optional<double> as_finite_number(const JsonValue& raw) {
  if (raw.is_string()) return parse_python_float(raw.text());
  if (!raw.is_number() || !std::isfinite(raw.as_double())) return std::nullopt;
  return raw.as_double();
}

// The "%s=%r -> %g" of an entry that was replaced, else nothing.
std::optional<std::string> describe_replaced(const std::string& name, const JsonValue& raw,
                                             double applied) {
  const auto number = as_finite_number(raw);
  if (number && *number == applied) return std::nullopt;
  // What a replaced entry becomes is one bound or the neutral value.
  const char* shown = applied == kTemperatureMin ? "0.5" : applied == kTemperatureMax ? "5" : "1";
  return name + "=" + python_repr(raw) + " -> " + shown;
}

void append_listed(std::string& list, const std::optional<std::string>& entry) {
  if (!entry) return;
  if (!list.empty()) list += ", ";
  list += *entry;
}

}  // namespace

std::string temperature_bucket(QuestionType type, std::size_t options) {
  const char* size = options <= 2 ? "2" : options <= 5 ? "3-5" : options <= 10 ? "6-10" : "11+";
  return std::string(to_string(type)) + ":" + size;
}

double clamp_temperature(const JsonValue& raw) {
  const auto number = as_finite_number(raw);
  return number ? std::clamp(*number, kTemperatureMin, kTemperatureMax) : 1.0;
}

Result<Calibration> Calibration::from_config(const JsonValue& config) {
  Calibration calibration;
  std::string replaced;
  const JsonValue* by_options = config.find("temperature_by_options");
  if (by_options != nullptr && !by_options->is_null() && !by_options->is_object()) {
    return Error{ErrorCode::kUnsupportedModel,
                 "Incompatible model: temperature_by_options must be an object of bucket -> "
                 "number, got " +
                     std::string(json_type_name(*by_options))};
  }
  if (by_options != nullptr) {
    for (const auto& [bucket, raw] : by_options->members()) {
      const double applied = clamp_temperature(raw);
      calibration.by_bucket_[bucket] = applied;
      append_listed(replaced, describe_replaced(bucket, raw, applied));
    }
  }
  if (const JsonValue* list = config.find("temperature"); list != nullptr) {
    if (!list->is_array() || list->size() != calibration.by_type_.size()) {
      return Error{
          ErrorCode::kUnsupportedModel,
          "Incompatible model: temperature must be a list of 3 floats, got " + python_repr(*list)};
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      const JsonValue& raw = list->items()[i];
      calibration.by_type_[i] = clamp_temperature(raw);
      append_listed(replaced, describe_replaced("temperature[" + std::to_string(i) + "]", raw,
                                                calibration.by_type_[i]));
    }
  }
  if (!replaced.empty()) {
    calibration.warning_ =
        "laya: this checkpoint ships invalid temperatures or values outside [0.5, 5]; using " +
        replaced + ". Treat confidence from the affected entries as uncalibrated.";
  }
  return calibration;
}

Result<Calibration> Calibration::from_config_json(std::string_view json) {
  auto config = base::parse_json(json, base::JsonLimits{});
  if (!config.ok()) {
    return Error{ErrorCode::kArtifactIntegrity, "decision config: " + config.error().message};
  }
  if (!config->is_object()) {
    return Error{ErrorCode::kArtifactIntegrity, "decision config: expected an object, got " +
                                                    std::string(json_type_name(*config))};
  }
  return from_config(*config);
}

double Calibration::temperature(QuestionType type, std::size_t options) const {
  const std::string bucket =
      type == QuestionType::kNoul ? "noul:2" : temperature_bucket(type, options);
  const auto found = by_bucket_.find(bucket);
  return found != by_bucket_.end() ? found->second : by_type_[static_cast<std::size_t>(type)];
}

}  // namespace layard::decision
