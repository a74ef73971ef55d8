#include "gateway/derive_print.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "gateway/derive_words.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

JsonValue text_value(std::string_view text) { return JsonValue::string(std::string(text)); }

JsonValue number(double value) { return JsonValue::real(std::round(value * 1000) / 1000); }

JsonValue maybe(const std::optional<double>& value) {
  return value ? number(*value) : JsonValue::null();
}

constexpr const char* kVerdicts[] = {
    "moved",           "not_measured",     "no_traffic",      "only_device",
    "fastest",         "too_little",       "memory_unpriced", "memory_too_much",
    "memory_too_dear", "decision_unknown", "asking_costs"};

JsonValue interval_json(const GainInterval& gain) {
  JsonValue out = JsonValue::array();
  out.push_back(number(gain.low));
  out.push_back(number(gain.high));
  return out;
}

JsonValue speed_json(const DeviceSpeed& speed) {
  if (speed.decode_tps <= 0) return JsonValue::null();
  JsonValue out = JsonValue::object();
  out.set("fixed_ms", number(speed.fixed_ms));
  out.set("prefill_tps", number(speed.prefill_tps));
  out.set("decode_tps", number(speed.decode_tps));
  return out;
}

JsonValue row_json(const DerivedRow& row) {
  const bool weighed = !row.other.empty();
  JsonValue out = JsonValue::object();
  out.set("class", text_value(row.class_name));
  out.set("device", text_value(row.device));
  out.set("verdict", text_value(kVerdicts[static_cast<std::size_t>(row.verdict)]));
  out.set("by_size", JsonValue::boolean(row.by_size));
  out.set("other", weighed ? text_value(row.other) : JsonValue::null());
  out.set("prompts", JsonValue::integer(static_cast<std::int64_t>(row.prompts)));
  out.set("gain_ms", weighed ? number(row.gain.mean) : JsonValue::null());
  out.set("ci95_ms", weighed ? interval_json(row.gain) : JsonValue::null());
  out.set("default_ms", number(row.default_ms));
  out.set("default_speed", speed_json(row.default_speed));
  out.set("other_speed", speed_json(row.other_speed));
  out.set("break_even_output_tokens", maybe(row.break_even_output));
  out.set("break_even_prompt_tokens", maybe(row.break_even_prompt));
  out.set("why", text_value(row.why));
  return out;
}

}  // namespace

std::string print_derivation(const Derivation& derivation) {
  std::size_t classes = 5;
  std::size_t devices = 6;
  for (const DerivedRow& row : derivation.rows) {
    classes = std::max(classes, row.class_name.size());
    devices = std::max(devices, row.device.size());
  }
  std::string out = derivation_words(derivation);
  out += padded("class", classes + 2) + padded("device", devices + 2) + "why\n";
  for (const DerivedRow& row : derivation.rows) {
    out += padded(row.class_name, classes + 2) + padded(row.device, devices + 2) + row.why + "\n";
  }
  return out;
}

std::string derivation_json(const Derivation& derivation) {
  JsonValue traffic = JsonValue::object();
  for (const ClassTraffic& one : derivation.traffic.classes) {
    traffic.set(one.class_name, number(one.share));
  }
  JsonValue speeds = JsonValue::object();
  speeds.set("usable", JsonValue::boolean(derivation.model.usable));
  speeds.set("held_out", JsonValue::integer(static_cast<std::int64_t>(derivation.model.held_out)));
  speeds.set("held_out_error", number(derivation.model.held_out_error));
  JsonValue asking = JsonValue::object();
  asking.set("decision_ms", maybe(derivation.decision_ms));
  asking.set("turns", number(derivation.turns));
  asking.set("ms_per_request", number(derivation.asking_ms));
  JsonValue rows = JsonValue::array();
  for (const DerivedRow& row : derivation.rows) rows.push_back(row_json(row));
  JsonValue out = JsonValue::object();
  out.set("default", text_value(derivation.default_device));
  out.set("decisions", JsonValue::integer(static_cast<std::int64_t>(derivation.traffic.decisions)));
  out.set("traffic", std::move(traffic));
  out.set("speeds", std::move(speeds));
  out.set("asking", std::move(asking));
  out.set("rows", std::move(rows));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::gateway
