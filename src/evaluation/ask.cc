#include "evaluation/ask.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/clock.h"
#include "decision/answers.h"

namespace layard::evaluation {
namespace {

using runtime::DecisionJob;

// Lines of one shared run: bounds the memory of their rows, and keeps the progress moving.
constexpr std::size_t kBatch = 32;

bool can_flip(const Question& question) {
  return question.type == QuestionType::kChoice && question.options.size() > 1;
}

// The question with its options shown from the last to the first.
Question reversed(Question question) {
  if (question.option_order.empty()) {
    question.option_order.resize(question.options.size());
    std::iota(question.option_order.begin(), question.option_order.end(), 0U);
  }
  std::ranges::reverse(question.option_order);
  return question;
}

std::vector<double> in_label_order(const Question& question, const std::vector<float>& logits) {
  std::vector<double> out(logits.size());
  for (std::size_t slot = 0; slot < logits.size(); ++slot) {
    out[question.option_order.empty() ? slot : question.option_order[slot]] =
        static_cast<double>(logits[slot]);
  }
  return out;
}

Result<std::size_t> picked_option(const Question& question, const std::vector<float>& logits,
                                  const decision::Calibration& calibration) {
  LAYARD_ASSIGN(const std::vector<float> p,
                decision::option_probabilities(question, logits, calibration));
  return static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
}

double confidence_of(const Answer& answer) {
  return std::visit([](const auto& value) { return value.answer_confidence; }, answer.value);
}

/// One run over the cases.
class Asker {
 public:
  Asker(runtime::Engine& engine, runtime::LoadedModel& model, std::span<const EvaluationCase> cases)
      : engine_(engine), model_(model), cases_(cases) {}

  /// Asks the cases from `first` on and before `last`. Errors: of a case, naming its line.
  Status ask(std::size_t first, std::size_t last) {
    const double start_ms = base::real_clock().now_ms();
    std::vector<Request> requests;
    for (std::size_t i = first; i < last; ++i) {
      requests.push_back({cases_[i].state, cases_[i].questions, std::nullopt, std::nullopt});
    }
    LAYARD_ASSIGN(const std::vector<DecisionJob> jobs, run(requests, first));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto prediction = engine_.finish(model_, jobs[i], false);
      if (!prediction.ok()) return at_line(first + i, prediction.error());
      out_.truncated += prediction->answers.usage.truncated != 0 ? 1 : 0;
      for (std::size_t q = 0; q < prediction->answers.answers.size(); ++q) {
        LAYARD_TRY(add(first + i, q, prediction->answers.answers[q], jobs[i].outputs[q].logits));
      }
    }
    out_.ask_ms += base::real_clock().now_ms() - start_ms;
    return {};
  }

  /// Asks the choices of those cases in reverse. REQUIRES: ask() has had them.
  Result<std::size_t> ask_reversed(std::size_t first, std::size_t last) {
    std::vector<Request> requests;
    std::vector<std::vector<std::size_t>> places;  // of a request's questions in out_
    for (std::size_t i = first; i < last; ++i) {
      Request request{cases_[i].state, {}, std::nullopt, std::nullopt};
      places.emplace_back();
      for (const Question& question : cases_[i].questions.questions) {
        if (can_flip(question)) {
          request.questions.questions.push_back(reversed(question));
          places.back().push_back(next_reversed_);
        }
        ++next_reversed_;
      }
      requests.push_back(std::move(request));
    }
    LAYARD_ASSIGN(const std::vector<DecisionJob> jobs, run(requests, first));
    std::size_t asked = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (std::size_t q = 0; q < places[i].size(); ++q, ++asked) {
        LAYARD_ASSIGN(const std::size_t picked,
                      picked_option(requests[i].questions.questions[q], jobs[i].outputs[q].logits,
                                    model_.calibration()));
        AskedQuestion& question = out_.questions[places[i][q]];
        question.shown_reversed = true;
        question.flipped = picked != question.picked;
      }
    }
    return asked;
  }

  AskedCases take() { return std::move(out_); }

 private:
  Error at_line(std::size_t index, Error error) const {
    error.message = "line " + std::to_string(cases_[index].line) + ": " + error.message;
    return error;
  }

  // REQUIRES: `requests` outlives the jobs; requests[i] is of the case first + i.
  Result<std::vector<DecisionJob>> run(const std::vector<Request>& requests, std::size_t first) {
    std::vector<DecisionJob> jobs(requests.size());
    std::vector<DecisionJob*> pointers;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      jobs[i].request = &requests[i];
      if (requests[i].questions.questions.empty()) continue;
      runtime::Engine::prepare(model_, jobs[i]);
      if (jobs[i].error.has_value()) return at_line(first + i, *jobs[i].error);
      pointers.push_back(&jobs[i]);
    }
    engine_.run(model_, pointers);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].error.has_value()) return at_line(first + i, *jobs[i].error);
    }
    return jobs;
  }

  Status add(std::size_t at_case, std::size_t at_question, const Answer& answer,
             const std::vector<float>& logits) {
    const Question& question = cases_[at_case].questions.questions[at_question];
    AskedQuestion asked;
    asked.at_case = at_case;
    asked.at_question = at_question;
    asked.type = question.type;
    asked.logits = in_label_order(question, logits);
    asked.temperature = model_.calibration().temperature(question.type, logits.size());
    LAYARD_ASSIGN(asked.picked, picked_option(question, logits, model_.calibration()));
    asked.confidence = confidence_of(answer);
    if (const auto* score = std::get_if<ScoreAnswer>(&answer.value)) asked.score = score->score;
    out_.questions.push_back(std::move(asked));
    return {};
  }

  runtime::Engine& engine_;
  runtime::LoadedModel& model_;
  std::span<const EvaluationCase> cases_;
  AskedCases out_;
  std::size_t next_reversed_ = 0;
};

}  // namespace

Result<AskedCases> ask_cases(runtime::Engine& engine, std::span<const EvaluationCase> cases,
                             bool reverse, const AskProgress& progress) {
  LAYARD_ASSIGN(runtime::LoadedModel * model, engine.ensure_loaded());
  engine.warn_about_format(*model);
  std::size_t total = 0;
  for (const EvaluationCase& one : cases) {
    const auto& questions = one.questions.questions;
    total += questions.size();
    if (reverse) total += static_cast<std::size_t>(std::ranges::count_if(questions, can_flip));
  }
  Asker asker(engine, *model, cases);
  std::size_t done = 0;
  for (std::size_t first = 0; first < cases.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, cases.size());
    LAYARD_TRY(asker.ask(first, last));
    for (std::size_t i = first; i < last; ++i) done += cases[i].questions.questions.size();
    if (progress) progress(done, total);
    if (!reverse) continue;
    LAYARD_ASSIGN(const std::size_t asked, asker.ask_reversed(first, last));
    done += asked;
    if (progress) progress(done, total);
  }
  return asker.take();
}

}  // namespace layard::evaluation
