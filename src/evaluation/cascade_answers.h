/// One request on its way through a cascade: what is answered, by whom, and what still waits.
/// Thread-safety: one caller at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "layard/answer.h"
#include "layard/cascade.h"
#include "layard/error.h"
#include "layard/model.h"
#include "layard/question.h"

namespace layard::evaluation {

/// The answer_confidence of an answer of any type.
double answer_confidence(const Answer& answer);

/// Errors: kInvalidRequest: fewer than two checkpoints, more than kCascadeStagesMax, an empty name,
/// one twice, or `auto`.
Status check_chain(const std::vector<std::string>& chain);

/// REQUIRES: the request outlives it.
class CascadeAnswers {
 public:
  explicit CascadeAnswers(const Request& request);

  const Request& request() const { return *request_; }
  const Question& question(std::size_t index) const { return request_->questions.questions[index]; }
  /// No question was asked.
  bool is_empty() const { return slots_.empty(); }
  /// A question waits for a further stage, and none has failed.
  bool is_waiting() const { return !error_.has_value() && !open_.empty(); }
  /// Indices of the questions that wait, ascending.
  std::vector<std::size_t> open() const { return open_; }
  /// These questions alone, about the same text.
  Request open_request() const;

  /// Question `index` goes to the next stage.
  void pass_on(std::size_t index, CascadeDecision::PassedOn earlier);
  /// Answer `place` of `prediction` is that of question `index`.
  void answer(std::size_t index, const Prediction& prediction, std::size_t place,
              CascadeDecision decision);
  /// A stage has run: its cost and its warnings. Called after its answers were taken.
  void add_stage(const Prediction& prediction);
  void fail(Error error) { error_ = std::move(error); }

  /// REQUIRES: every question is answered, or a stage failed. Errors: the stage's.
  Result<CascadePrediction> finish();

 private:
  struct Slot {
    Answer answer;
    CascadeDecision decision;
    std::optional<OrderStability> stability;
    std::vector<RawRow> rows;
    bool cut = false;
    std::optional<CollapsedOptions> collapsed;
  };
  void add_usage(const Usage& usage);
  void add_runtime(const RuntimeInfo& info);

  const Request* request_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> open_;
  std::size_t stages_ = 0;
  Usage usage_;
  RuntimeInfo runtime_;
  std::vector<std::string> warnings_;
  std::optional<Error> error_;
};

}  // namespace layard::evaluation
