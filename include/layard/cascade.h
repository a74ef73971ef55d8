/// Several checkpoints in a row: the small one answers when it is sure enough, the next one
/// otherwise. How sure is enough follows from labelled data and a stated risk. docs/cascade.md.
///
///   auto plan = layard::parse_cascade_plan(json).value();   // of `evaluate --write-cascade`
///   layard::CascadeOptions options;
///   options.checkpoints.environment = layard::Environment::from_process().value();
///   options.chain = {"starter", "laya"};
///   options.plan = plan;
///   auto cascade = layard::Cascade::open(options).value();
///
/// The library never prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/evaluation.h"
#include "layard/export.h"
#include "layard/model.h"
#include "layard/question.h"

namespace layard {

/// Checkpoints of one chain, at least two.
inline constexpr std::size_t kCascadeStagesMax = 8;
/// Bytes a file of thresholds may have.
inline constexpr std::size_t kCascadeFileBytesMax = std::size_t{1} << 20;
/// Labelled questions of a bucket from which on it has a threshold of its own.
inline constexpr std::size_t kCascadeBucketFloor = 100;

// ---- thresholds ----

/// From which answer_confidence on a stage answers the questions of one bucket.
struct CascadeThreshold {
  /// Type and number of options (`choice:3-5`, `score:6-10`, `noul:2`), or `default`: all others.
  std::string bucket;
  /// In [0, 1]; nothing: no confidence is enough, and the stage answers no such question.
  std::optional<double> confidence;

  friend bool operator==(const CascadeThreshold&, const CascadeThreshold&) = default;
};

/// One checkpoint of a chain. `thresholds` of the last are empty: it answers what reaches it.
struct CascadeStage {
  std::string model;  ///< the name it was fitted under
  /// 64 hex digits; thresholds are for these weights alone.
  std::string weights_sha256;
  std::vector<CascadeThreshold> thresholds;

  friend bool operator==(const CascadeStage&, const CascadeStage&) = default;
};

/// What thresholds were fitted on.
struct CascadeFitData {
  std::string data;  ///< as the caller names it
  std::string dtype;
  std::size_t questions = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const CascadeFitData&, const CascadeFitData&) = default;
};

/// Thresholds of a chain, and where they come from.
struct CascadePlan {
  std::vector<CascadeStage> chain;
  double risk = 0;  ///< wrong answers that were accepted among those a stage gives, in (0, 1)
  CascadeFitData fitted_on;

  friend bool operator==(const CascadePlan&, const CascadePlan&) = default;
};

/// Reads `{"version": 1, "chain": [{"model", "weights_sha256", "thresholds": {bucket: number |
/// null}}, ...], "risk", "fitted_on"}`; other members are passed over.
/// Bounds: kCascadeFileBytesMax, kCascadeStagesMax. Errors: kInvalidRequest naming the member.
LAYARD_EXPORT Result<CascadePlan> parse_cascade_plan(std::string_view json);

/// What parse_cascade_plan reads, indented by one.
LAYARD_EXPORT std::string print_cascade_plan(const CascadePlan& plan);

// ---- answers ----

struct CascadeOptions {
  /// How each checkpoint is opened; `model` and `lazy` are not read. A checkpoint is loaded when a
  /// question first reaches it.
  ModelOptions checkpoints;
  /// As ModelOptions::model, 2 to kCascadeStagesMax of them, each once; `auto` is none.
  std::vector<std::string> chain;
  /// Fitted thresholds, or:
  std::optional<CascadePlan> plan;
  /// One threshold in [0, 1] for all questions and all stages but the last, set by hand.
  std::optional<double> threshold;
};

/// Who answered one question, and why.
struct CascadeDecision {
  /// A stage that was asked before the one that answered.
  struct PassedOn {
    std::string model;
    double confidence = 0;
    std::optional<double> threshold;  ///< nothing: it answers no such question

    friend bool operator==(const PassedOn&, const PassedOn&) = default;
  };

  std::string question;
  std::size_t stage = 1;  ///< 1 is the first of the chain
  std::string model;
  double confidence = 0;            ///< answer_confidence of the answer that is given
  std::optional<double> threshold;  ///< that it reached; nothing at the last stage
  /// `fitted_threshold_reached`, `by_hand_threshold_reached`, `last_stage`.
  std::string reason;
  /// The bucket whose threshold it was, `default`, or `by hand`; empty at the last stage.
  std::string threshold_of;
  std::vector<PassedOn> passed_on;

  friend bool operator==(const CascadeDecision&, const CascadeDecision&) = default;
};

struct CascadePrediction {
  /// Answers in question order, each that of its stage. Tokens are summed over all stages;
  /// `runtime` is the last stage's that ran, with the times of all. `cascade` among answers.extra
  /// is print_cascade_decisions' text.
  Prediction prediction;
  std::vector<CascadeDecision> decisions;  ///< in question order
};

/// `{question: {"stage", "model", "confidence", "threshold", "threshold_of", "reason",
/// "passed_on"?}}` on one line.
LAYARD_EXPORT std::string print_cascade_decisions(std::span<const CascadeDecision> decisions);

/// Thread-safety: as Model.
class LAYARD_EXPORT Cascade {
 public:
  /// Loads nothing. Errors: kInvalidRequest: a chain that is too short, too long or names a model
  /// twice or `auto`; neither a plan nor a threshold, or both; a plan of another length; a
  /// threshold out of range; those of Model::open that need no checkpoint.
  static Result<std::unique_ptr<Cascade>> open(const CascadeOptions& options);

  Cascade(const Cascade&) = delete;
  Cascade& operator=(const Cascade&) = delete;
  ~Cascade();

  /// Asks the first stage everything, and each further one what the one before was not sure of, in
  /// one pass. Errors: as Model::predict of each stage; kInvalidRequest for a stage whose weights
  /// are not those that its thresholds were fitted on.
  Result<CascadePrediction> predict(const State& state, const QuestionSet& questions,
                                    const PredictOptions& options);

  /// The same for many requests: a stage's questions of all of them share forward passes. Results
  /// are those of single calls, bit for bit; one that fails loses nothing else.
  std::vector<Result<CascadePrediction>> predict_many(std::span<const Request> requests,
                                                      const PredictOptions& options);

 private:
  struct Impl;
  explicit Cascade(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ---- fit and measurement ----

/// What one stage said to one labelled question.
struct CascadeOutcome {
  double confidence = 0;  ///< answer_confidence
  bool right = false;     ///< the most probable option is one the target thinks most probable
};

/// One labelled question and what every stage of the chain said to it.
struct CascadeCase {
  std::string bucket;
  std::vector<CascadeOutcome> stages;
};

/// Thresholds of each stage but the last: per bucket of at least kCascadeBucketFloor questions, and
/// `default` over all, the smallest confidence for which (wrong + 1) / (answered + 1) <= risk. Each
/// stage is fitted on what the stages before it pass on. The result has one entry a stage.
/// REQUIRES: risk in (0, 1); every case has the same number of stages, at least two.
/// Source: laya 0.4.15 `fit_abstention_thresholds` (rule and floor).
LAYARD_EXPORT std::vector<std::vector<CascadeThreshold>> fit_cascade_thresholds(
    std::span<const CascadeCase> cases, double risk);

/// What a chain does to a set of labelled questions.
struct CascadeMeasure {
  /// Of a curve: the one threshold of all stages but the last. Nothing: the fitted ones.
  std::optional<double> threshold;
  std::size_t questions = 0;
  std::size_t right = 0;
  double accuracy = 0;                ///< 0 of none
  std::vector<std::size_t> answered;  ///< by each stage
  std::vector<std::size_t> wrong;     ///< of those
  /// Mean cost of a question: every stage it reaches at that stage's measured time.
  double ms_per_question = 0;
};

/// `thresholds` as fit_cascade_thresholds gives them; `stage_ms` is what a question costs each
/// stage. REQUIRES: one entry of both a stage.
LAYARD_EXPORT CascadeMeasure measure_cascade(
    std::span<const CascadeCase> cases, std::span<const std::vector<CascadeThreshold>> thresholds,
    std::span<const double> stage_ms);

/// One measure per threshold 0, 1/steps, ..., 1, the same at every stage but the last.
/// REQUIRES: 1 <= steps <= 1,000, one entry of `stage_ms` a stage.
LAYARD_EXPORT std::vector<CascadeMeasure> cascade_curve(std::span<const CascadeCase> cases,
                                                        std::span<const double> stage_ms,
                                                        std::size_t steps);

struct CascadeEvaluationOptions {
  double risk = 0.05;  ///< in (0, 1)
  /// Of the split of lines into halves, one to fit on and one to measure on.
  std::uint64_t seed = 1;
  std::string data;  ///< what the lines came from, for the plan
};

/// A chain measured on labelled lines that its thresholds were not fitted on.
struct CascadeEvaluation {
  CascadePlan plan;
  std::size_t fit_lines = 0;
  std::size_t fit_questions = 0;
  std::size_t lines = 0;  ///< that were measured on
  /// Each stage alone on all measured questions.
  struct StageAlone {
    std::string model;
    std::size_t right = 0;
    double accuracy = 0;
    double ms_per_question = 0;  ///< in shared passes
  };
  std::vector<StageAlone> stages;
  CascadeMeasure fitted;
  std::vector<CascadeMeasure> curve;  ///< 20 steps
};

/// Opens each checkpoint of `chain` in turn, asks it every question, fits on one half of the lines
/// and measures on the other. `model.model` and `.lazy` are not read. `progress(done, total)`
/// counts lines times stages and may be empty. Errors: those of Model::open and of the questions,
/// naming the line; kInvalidRequest: a chain or an option out of range, fewer than two lines.
LAYARD_EXPORT Result<CascadeEvaluation> evaluate_cascade(
    const ModelOptions& model, std::span<const std::string> chain,
    std::span<const EvaluationCase> cases, const CascadeEvaluationOptions& options,
    const std::function<void(std::size_t, std::size_t)>& progress);

/// For people.
LAYARD_EXPORT std::string print_cascade_evaluation(const CascadeEvaluation& evaluation);

/// The same numbers as JSON, indented by one.
LAYARD_EXPORT std::string cascade_evaluation_json(const CascadeEvaluation& evaluation);

}  // namespace layard
