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

// The bucket that a question's entries are looked up in.
std::string bucket_of(QuestionType type, std::size_t options) {
  return type == QuestionType::kNoul ? "noul:2" : temperature_bucket(type, options);
}

Error bad_file(const std::string& text) {
  return {ErrorCode::kInvalidRequest, "calibration JSON " + text};
}

Result<std::vector<double>> read_bins(const std::string& bucket, const JsonValue& raw) {
  constexpr std::int64_t kBinsMax = 1000;
  const std::string place = "binning_map[" + python_repr(bucket) + "]";
  const JsonValue* bins = raw.find("bins");
  const JsonValue* values = raw.find("values");
  const auto count = bins == nullptr ? std::nullopt : bins->as_int64();
  if (!count || *count < 1 || *count > kBinsMax || values == nullptr || !values->is_array() ||
      values->size() != static_cast<std::size_t>(*count)) {
    return bad_file(place + " must be {\"bins\": n, \"values\": [n numbers]} with n from 1 to " +
                    std::to_string(kBinsMax));
  }
  std::vector<double> out;
  for (const JsonValue& value : values->items()) {
    const double number = value.as_double();
    if (!value.is_number() || !(number >= 0 && number <= 1)) {
      return bad_file(place + " must hold numbers from 0 to 1, got " + python_repr(value));
    }
    out.push_back(number);
  }
  return out;
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

Result<Calibration> Calibration::read(const JsonValue& config, std::string_view owner) {
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
    calibration.warning_ = std::string(owner) +
                           " invalid temperatures or values outside [0.5, 5]; using " + replaced +
                           ". Treat confidence from the affected entries as uncalibrated.";
  }
  return calibration;
}

Result<Calibration> Calibration::from_config(const JsonValue& config) {
  return read(config, "laya: this checkpoint ships");
}

Status Calibration::read_binning_map(const JsonValue& map) {
  if (map.is_null()) return {};
  if (!map.is_object()) {
    return bad_file("binning_map must be an object of bucket -> bins, got " +
                    std::string(json_type_name(map)));
  }
  for (const auto& [bucket, raw] : map.members()) {
    LAYARD_ASSIGN(bins_[bucket], read_bins(bucket, raw));
  }
  return {};
}

Result<Calibration> Calibration::from_calibration_json(const JsonValue& root) {
  auto calibration = read(root, "laya: the calibration file has");
  if (!calibration.ok()) {
    constexpr std::string_view kPrefix = "Incompatible model: ";
    return bad_file(calibration.error().message.substr(kPrefix.size()));
  }
  if (const JsonValue* map = root.find("binning_map"); map != nullptr) {
    LAYARD_TRY(calibration->read_binning_map(*map));
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
  const auto found = by_bucket_.find(bucket_of(type, options));
  return found != by_bucket_.end() ? found->second : by_type_[static_cast<std::size_t>(type)];
}

double Calibration::answer_confidence(QuestionType type, std::size_t options,
                                      double largest) const {
  if (bins_.empty()) return largest;
  const auto found = bins_.find(bucket_of(type, options));
  if (found == bins_.end()) return largest;
  const auto bins = static_cast<double>(found->second.size());
  const double bin = std::clamp(std::floor(largest * bins), 0.0, bins - 1);
  return found->second[static_cast<std::size_t>(bin)];
}

}  // namespace layard::decision
