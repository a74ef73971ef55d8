#include "server/systemone.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/checks.h"

namespace layard::server {
namespace {

using base::JsonValue;

JsonValue optional_ms(const std::optional<double>& value) {
  return value.has_value() ? JsonValue::real(std::round(*value * 1000) / 1000) : JsonValue::null();
}

// Our own text: it parses, within the limits of what made it.
JsonValue read_back(const std::string& json) {
  auto value = base::parse_json(json, base::JsonLimits{});
  LAYARD_CHECK(value.ok());
  return *std::move(value);
}

JsonValue layard_block(const ServiceAnswer& answer) {
  const RuntimeInfo& info = answer.prediction.runtime;
  JsonValue block = JsonValue::object();
  block.set("model", JsonValue::string(info.model));
  block.set("model_revision", JsonValue::string(info.model_revision));
  block.set("device", JsonValue::string(info.device));
  block.set("backend", JsonValue::string(info.backend));
  block.set("routing_reason", JsonValue::string(info.routing_reason));
  block.set("request_id", JsonValue::integer(info.request_id));
  block.set("truncated", JsonValue::boolean(info.truncated));
  block.set("sequence_length", JsonValue::integer(info.sequence_length));
  block.set("question_count", JsonValue::integer(info.question_count));
  block.set("latency_ms", optional_ms(info.latency_ms));
  block.set("queue_wait_ms", optional_ms(info.queue_wait_ms));
  block.set("device_ms", optional_ms(info.device_ms));
  block.set("dtype", info.dtype.has_value() ? JsonValue::string(*info.dtype) : JsonValue::null());
  block.set("cached", JsonValue::boolean(answer.cached));
  if (info.model_routing.has_value()) {
    block.set("model_routing", JsonValue::string(*info.model_routing));
  }
  return block;
}

void add_confidences(JsonValue& out, const Answer& answer, const Controls& controls) {
  if (controls.gate.has_value()) {
    const GateOutcome outcome = apply_gate(*controls.gate, answer);
    if (!outcome.passed) out.set("low_confidence", JsonValue::boolean(true));
    out.set("abstention", JsonValue::string(outcome.passed ? "passed" : "abstained"));
    out.set("abstention_threshold", JsonValue::real(outcome.threshold));
  }
  if (const auto confidence = jev_confidence(answer)) {
    out.set("x_jev_confidence", JsonValue::real(*confidence));
  }
}

// `names` of `value`, in their order.
template <std::size_t kCount>
JsonValue only(const JsonValue& value, const std::array<const char*, kCount>& names) {
  JsonValue out = JsonValue::object();
  for (const char* name : names) {
    if (const JsonValue* member = value.find(name)) out.set(name, *member);
  }
  return out;
}

JsonValue strict_answer(const JsonValue& answer, QuestionType type) {
  switch (type) {
    case QuestionType::kChoice:
      return only(answer, std::array{"type", "choice", "confidence", "probabilities"});
    case QuestionType::kScore:
      return only(answer, std::array{"type", "score", "confidence", "probabilities", "legend"});
    case QuestionType::kNoul:
      break;
  }
  return only(answer, std::array{"type", "noul"});
}

JsonValue strict_json(const JsonValue& root, const AnswerSet& set) {
  JsonValue answers = JsonValue::object();
  const JsonValue& given = *root.find("answers");
  for (const Answer& answer : set.answers) {
    answers.set(answer.id, strict_answer(*given.find(answer.id), answer.type()));
  }
  JsonValue out = JsonValue::object();
  out.set("model", *root.find("model"));
  out.set("answers", std::move(answers));
  out.set("usage", only(*root.find("usage"), std::array{"input_tokens", "output_tokens"}));
  return out;
}

JsonValue wire_value(ServiceAnswer answer, const Controls& controls) {
  AnswerSet& set = answer.prediction.answers;
  set.warnings.insert(set.warnings.end(), controls.warnings.begin(), controls.warnings.end());
  CodecOptions compact;
  compact.layout = JsonLayout::kCompact;
  JsonValue root = read_back(print_answers(set, compact));
  if (controls.jev_strict) return strict_json(root, set);
  JsonValue& answers = *root.find_mutable("answers");
  for (const Answer& one : set.answers) {
    add_confidences(*answers.find_mutable(one.id), one, controls);
  }
  if (!set.answers.empty()) root.set("layard", layard_block(answer));
  return root;
}

}  // namespace

std::string systemone_json(ServiceAnswer answer, const Controls& controls) {
  return base::write_json(wire_value(std::move(answer), controls), base::JsonStyle::kCompact);
}

std::string batch_json(std::vector<ServiceAnswer> answers, const Controls& controls) {
  std::string out = "{\"results\":[";
  std::int64_t input_tokens = 0;
  for (ServiceAnswer& answer : answers) {
    input_tokens += answer.prediction.answers.usage.input_tokens;
    if (!out.ends_with('[')) out += ',';
    out += systemone_json(std::move(answer), controls);
  }
  return out + "],\"total_usage\":{\"input_tokens\":" + std::to_string(input_tokens) +
         ",\"output_tokens\":0}}";
}

std::string two_decimals(double value) {
  std::array<char, 64> text{};
  const int written = std::snprintf(text.data(), text.size(), "%.2f", value);
  LAYARD_CHECK(written > 0 && static_cast<std::size_t>(written) < text.size());
  return {text.data(), static_cast<std::size_t>(written)};
}

}  // namespace layard::server
