#include "gateway/decision_record.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "base/json.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

JsonValue rounded(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, std::isfinite(value) ? value : 0.0);
  return JsonValue::real_text(text.data());
}

JsonValue known(double value, int decimals) {
  return value < 0 ? JsonValue::null() : rounded(value, decimals);
}

JsonValue known(std::int64_t value) {
  return value < 0 ? JsonValue::null() : JsonValue::integer(value);
}

JsonValue named(const std::string& text) {
  return text.empty() ? JsonValue::null() : JsonValue::string(text);
}

// 2026-12-01T10:15:30.125Z
std::string time_text(std::int64_t time_ms) {
  const std::time_t seconds = static_cast<std::time_t>(time_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(time_ms % 1000));
  return text.data();
}

JsonValue probabilities_json(const Decision& decision) {
  JsonValue out = JsonValue::object();
  for (const auto& [name, probability] : decision.probabilities) {
    out.set(name, rounded(probability, 4));
  }
  return out;
}

JsonValue list(const std::vector<std::string>& names) {
  JsonValue out = JsonValue::array();
  for (const std::string& name : names) out.push_back(JsonValue::string(name));
  return out;
}

void add_served(const ServedRequest& served, JsonValue& out) {
  out.set("ttft_ms", known(served.ttft_ms, 3));
  out.set("prompt_tokens", known(served.prompt_tokens));
  out.set("completion_tokens", known(served.completion_tokens));
  out.set("decode_tps", known(served.decode_tps, 2));
  out.set("status", JsonValue::integer(served.status));
  out.set("cancelled", JsonValue::boolean(served.cancelled));
  out.set("cached_tokens", known(served.cached_tokens));
  out.set("total_ms", rounded(served.total_ms, 3));
  out.set("wait_ms", rounded(served.wait_ms, 3));
  out.set("overflow", JsonValue::boolean(served.overflow));
}

}  // namespace

std::string route_field(const Decision& decision, std::string_view device) {
  RequestClass found;
  found.name = decision.class_name.empty() ? "-" : decision.class_name;
  found.confidence = decision.class_name.empty() ? 0 : decision.confidence;
  return route_line(found, device.empty() ? "-" : device);
}

std::string decision_line(const DecisionRecord& record) {
  const Decision& decision = record.decision;
  JsonValue out = JsonValue::object();
  out.set("ts", JsonValue::string(time_text(record.time_ms)));
  out.set("request_id", JsonValue::string(record.request_id));
  out.set("conversation", named(record.conversation));
  out.set("class", named(decision.class_name));
  out.set("confidence",
          decision.class_name.empty() ? JsonValue::null() : rounded(decision.confidence, 4));
  out.set("probabilities", probabilities_json(decision));
  out.set("source", JsonValue::string(std::string(decision_source_name(decision.source))));
  out.set("chars", JsonValue::integer(record.chars));
  out.set("tokens", known(record.tokens));
  out.set("checkpoint", named(record.checkpoint));
  out.set("policy_hash", JsonValue::string(record.policy_hash));
  out.set("device", named(record.served.device));
  out.set("candidates", list(record.candidates));
  out.set("decision_ms", rounded(decision.decision_ms, 3));
  out.set("queue_ms", rounded(decision.queue_ms, 3));
  add_served(record.served, out);
  out.set("caller", named(record.caller));
  out.set("api", JsonValue::string(record.api));
  out.set("model_requested", named(record.model_requested));
  out.set("model_sent", named(record.model_sent));
  out.set("model_reported", named(record.model_reported));
  if (!record.text.empty()) out.set("text", JsonValue::string(record.text));
  return base::write_json(out, base::JsonStyle::kCompact);
}

}  // namespace layard::gateway
