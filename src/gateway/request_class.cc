#include "gateway/request_class.h"

#include <array>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"

namespace layard::gateway {
namespace {

constexpr const char* kQuestion = "class";

// Options that are offered from the last to the first keep their places in the answer.
void reverse_options(Question& question) {
  const std::size_t count = question.options.size();
  question.option_order.resize(count);
  for (std::size_t slot = 0; slot < count; ++slot) {
    question.option_order[slot] = static_cast<std::uint32_t>(count - 1 - slot);
  }
}

std::string question_json(const RoutePolicy& policy) {
  using base::JsonValue;
  JsonValue criteria = JsonValue::object();
  for (const ClassOption& option : policy.options) {
    criteria.set(option.name, JsonValue::string(option.description));
  }
  JsonValue question = JsonValue::object();
  question.set("type", JsonValue::string("choice"));
  question.set("instructions", JsonValue::string(policy.instructions));
  question.set("criteria", std::move(criteria));
  JsonValue root = JsonValue::object();
  root.set(kQuestion, std::move(question));
  return write_json(root, base::JsonStyle::kCompact);
}

}  // namespace

std::size_t gate_size(const SizeGate& gate, std::string_view text) {
  return gate.unit == GateUnit::kBytes ? text.size() : base::count_code_points(text);
}

Result<RouteQuestion> RouteQuestion::make(const RoutePolicy& policy) {
  RouteQuestion out;
  out.size_gate_ = policy.size_gate;
  out.gate_on_ = policy.gate_on;
  out.orders_ = policy.orders;
  LAYARD_ASSIGN(out.question_, parse_questions(question_json(policy), {}));
  out.reversed_ = out.question_;
  reverse_options(out.reversed_.questions[0]);
  return out;
}

std::optional<RequestClass> RouteQuestion::by_size(std::size_t chars, std::size_t bytes) const {
  if (!size_gate_.has_value()) return std::nullopt;
  const std::size_t size = size_gate_->unit == GateUnit::kBytes ? bytes : chars;
  if (std::cmp_less(size, size_gate_->min)) return std::nullopt;
  return RequestClass{size_gate_->class_name, 1, {{size_gate_->class_name, 1}}, true};
}

PredictOptions RouteQuestion::predict_options() const {
  PredictOptions options;
  options.orders = orders_;
  return options;
}

RequestClass RouteQuestion::read(const Prediction& prediction) const {
  const auto& answer = std::get<ChoiceAnswer>(prediction.answers.answers.at(0).value);
  RequestClass found;
  found.name = answer.choice.key;
  found.confidence = gate_on_ == GateOn::kConfidence ? answer.confidence : answer.answer_confidence;
  found.probabilities = answer.probabilities;
  found.entropy_confidence = answer.confidence;
  found.answer_confidence = answer.answer_confidence;
  found.state_tokens = prediction.answers.usage.state_tokens;
  found.state_tokens_dropped = prediction.answers.usage.state_tokens_dropped;
  return found;
}

Result<RequestClassifier> RequestClassifier::open(const RoutePolicy& policy, Model& model) {
  LAYARD_ASSIGN(RouteQuestion question, RouteQuestion::make(policy));
  return RequestClassifier(std::move(question), model);
}

std::optional<RequestClass> RequestClassifier::by_size(std::string_view text) const {
  return question_.by_size(base::count_code_points(text), text.size());
}

Result<RequestClass> RequestClassifier::classify(std::string_view text) const {
  if (!base::is_valid_utf8(text)) {
    return Error{ErrorCode::kInvalidRequest, "the request's text is not UTF-8"};
  }
  if (auto found = by_size(text)) return *std::move(found);
  LAYARD_ASSIGN(const Prediction prediction,
                model_->predict(State{std::string(text)}, question_.questions(false),
                                question_.predict_options()));
  return question_.read(prediction);
}

std::vector<Result<RequestClass>> RequestClassifier::classify_many(
    std::span<const std::string> texts, bool reversed) const {
  std::vector<Request> requests;
  std::vector<Result<RequestClass>> out;
  std::vector<std::size_t> places;
  for (const std::string& text : texts) {
    if (!base::is_valid_utf8(text)) {
      out.emplace_back(Error{ErrorCode::kInvalidRequest, "the request's text is not UTF-8"});
    } else if (auto found = by_size(text)) {
      out.emplace_back(*std::move(found));
    } else {
      places.push_back(out.size());
      out.emplace_back(RequestClass{});
      requests.push_back({State{text}, question_.questions(reversed), {}, {}});
    }
  }
  const auto predictions = model_->predict_many(requests, question_.predict_options());
  for (std::size_t i = 0; i < places.size(); ++i) {
    out[places[i]] = predictions[i].ok() ? Result<RequestClass>(question_.read(*predictions[i]))
                                         : Result<RequestClass>(predictions[i].error());
  }
  return out;
}

std::string route_line(const RequestClass& found, std::string_view device) {
  std::array<char, 16> confidence{};
  std::snprintf(confidence.data(), confidence.size(), "%.2f", found.confidence);
  return found.name + " " + confidence.data() + " " + std::string(device);
}

}  // namespace layard::gateway
