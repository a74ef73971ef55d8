#include "evaluation/cascade_answers.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "base/checks.h"

namespace layard::evaluation {
namespace {

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

template <typename Number>
void add_to(std::optional<Number>& sum, const std::optional<Number>& more) {
  if (more.has_value()) sum = sum.value_or(0) + *more;
}

}  // namespace

double answer_confidence(const Answer& answer) {
  return std::visit([](const auto& value) { return value.answer_confidence; }, answer.value);
}

Status check_chain(const std::vector<std::string>& chain) {
  if (chain.size() < 2 || chain.size() > kCascadeStagesMax) {
    return invalid("a cascade is a chain of 2 to " + std::to_string(kCascadeStagesMax) +
                   " checkpoints, smallest first, got " + std::to_string(chain.size()));
  }
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain[i].empty() || chain[i] == "auto") {
      return invalid("a cascade names its checkpoints, and '" + chain[i] + "' is none");
    }
    const auto end = chain.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(chain.begin(), end, chain[i]) != end) {
      return invalid("'" + chain[i] + "' is twice in the cascade; asked again it answers the same");
    }
  }
  return {};
}

CascadeAnswers::CascadeAnswers(const Request& request)
    : request_(&request),
      slots_(request.questions.questions.size()),
      open_(request.questions.questions.size()) {
  std::iota(open_.begin(), open_.end(), std::size_t{0});
}

Request CascadeAnswers::open_request() const {
  Request out;
  out.state = request_->state;
  out.overflow = request_->overflow;
  out.orders = request_->orders;
  for (const std::size_t index : open_) out.questions.questions.push_back(question(index));
  if (stages_ == 0) {  // said once
    out.questions.warnings = request_->questions.warnings;
    out.warnings = request_->warnings;
  }
  return out;
}

void CascadeAnswers::pass_on(std::size_t index, CascadeDecision::PassedOn earlier) {
  slots_[index].decision.passed_on.push_back(std::move(earlier));
}

void CascadeAnswers::answer(std::size_t index, const Prediction& prediction, std::size_t place,
                            CascadeDecision decision) {
  Slot& slot = slots_[index];
  const AnswerSet& set = prediction.answers;
  slot.answer = set.answers[place];
  decision.question = question(index).id;
  decision.passed_on = std::move(slot.decision.passed_on);
  slot.decision = std::move(decision);
  if (!set.stability.empty()) slot.stability = set.stability[place];
  for (const RawRow& row : prediction.rows) {
    if (row.question == slot.decision.question) slot.rows.push_back(row);
  }
  const auto& cut = set.usage.truncated_questions;
  slot.cut = std::ranges::find(cut, slot.decision.question) != cut.end();
  const auto& options = set.usage.options;
  const auto collapsed =
      std::ranges::find(options, slot.decision.question, &CollapsedOptions::question);
  if (collapsed != options.end()) slot.collapsed = *collapsed;
  std::erase(open_, index);
}

// Tokens of all stages. What was cut is said for each question by the stage that answers it.
void CascadeAnswers::add_usage(const Usage& usage) {
  usage_.input_tokens += usage.input_tokens;
  usage_.ran = true;
  usage_.summed = usage_.summed || usage.summed;
  usage_.state_tokens = std::max(usage_.state_tokens, usage.state_tokens);
  usage_.state_tokens_dropped = std::max(usage_.state_tokens_dropped, usage.state_tokens_dropped);
  usage_.truncated = std::max(usage_.truncated, usage.truncated);
  add_to(usage_.windows, usage.windows);
}

void CascadeAnswers::add_runtime(const RuntimeInfo& info) {
  RuntimeInfo sum = info;
  if (stages_ > 0) {
    sum.latency_ms += runtime_.latency_ms;
    add_to(sum.device_ms, runtime_.device_ms);
    add_to(sum.rechecked, runtime_.rechecked);
    sum.sequence_length = std::max(sum.sequence_length, runtime_.sequence_length);
    sum.question_count = runtime_.question_count;
    sum.truncated = sum.truncated || runtime_.truncated;
  }
  runtime_ = std::move(sum);
}

void CascadeAnswers::add_stage(const Prediction& prediction) {
  add_usage(prediction.answers.usage);
  add_runtime(prediction.runtime);
  for (const std::string& warning : prediction.answers.warnings) add_once(warnings_, warning);
  ++stages_;
}

Result<CascadePrediction> CascadeAnswers::finish() {
  if (error_.has_value()) return *error_;
  LAYARD_CHECK(open_.empty());
  CascadePrediction out;
  AnswerSet& set = out.prediction.answers;
  for (Slot& slot : slots_) {
    if (slot.cut) usage_.truncated_questions.push_back(slot.decision.question);
    if (slot.collapsed.has_value()) usage_.options.push_back(*std::move(slot.collapsed));
    if (slot.stability.has_value()) set.stability.push_back(*std::move(slot.stability));
    for (RawRow& row : slot.rows) out.prediction.rows.push_back(std::move(row));
    set.answers.push_back(std::move(slot.answer));
    out.decisions.push_back(std::move(slot.decision));
  }
  set.usage = std::move(usage_);
  set.warnings = std::move(warnings_);
  set.extra.push_back({"cascade", print_cascade_decisions(out.decisions)});
  out.prediction.runtime = std::move(runtime_);
  return out;
}

}  // namespace layard::evaluation
