/// How good a checkpoint's answers are on labelled questions, and the temperatures that make its
/// probabilities honest: `layard evaluate` and `layard fit-temperatures`. docs/evaluation.md
/// defines every number.
///
/// Thread-safety: values are plain; functions without a model are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/model.h"
#include "layard/question.h"

namespace layard {

// ---- labelled questions ----

/// Bytes, lines with questions and questions that a file of them may have.
inline constexpr std::size_t kEvaluationBytesMax = std::size_t{256} << 20;
inline constexpr std::size_t kEvaluationCasesMax = 200'000;
inline constexpr std::size_t kEvaluationQuestionsMax = 1'000'000;

/// What is true of one question: a probability per option, in label order (noul: false, true);
/// they sum to 1. A plain label is 1 for its option and 0 for the others.
using Target = std::vector<double>;

/// One line: a text, its questions, and a target for each, in the same order.
struct EvaluationCase {
  State state;
  QuestionSet questions;
  std::vector<Target> targets;
  std::string source;    ///< empty where the line has none
  std::size_t line = 0;  ///< as an editor counts
};

/// Reads JSON Lines of `{"state" | "context", "questions", "expected" | "gold", "source"?,
/// "split"?}`; other members are passed over. A question's entry in `expected` or `gold` is its
/// label (choice), level index (score) or true/false (noul), or `{"probabilities": {label: p}}`.
/// With a `split`, lines whose "split" is another one are passed over unread.
/// Bounds: kEvaluation...Max. Errors: kInvalidRequest naming line and member: not JSON, what
/// parse_request refuses, a question without a target, a target of no question or of no option, no
/// line at all.
/// Source: laya 0.4.15 laya.train data files (`expected`, `gold`). Departs: a bad line is an error,
/// there it is skipped.
LAYARD_EXPORT Result<std::vector<EvaluationCase>> parse_evaluation_cases(std::string_view text,
                                                                         std::string_view split);

// ---- numbers of confidence and rightness ----

/// One answer as a gate sees it.
struct JudgedAnswer {
  double confidence = 0;  ///< answer_confidence, in [0, 1]
  bool right = false;
};

/// Answers whose confidence is in (low, high]; the first bin is closed at 0.
struct ReliabilityBin {
  double low = 0;
  double high = 0;
  std::size_t count = 0;
  double confidence = 0;  ///< mean; 0 of none
  double accuracy = 0;    ///< share of right ones; 0 of none
};

/// Bins of equal width, first to last. REQUIRES: 1 <= bins <= 1,000.
/// Source: laya 0.4.15 (15 bins, the first closed at 0, the others (low, high]).
LAYARD_EXPORT std::vector<ReliabilityBin> reliability_bins(std::span<const JudgedAnswer> answers,
                                                           std::size_t bins);

/// Expected calibration error: the mean of |accuracy - confidence| over bins, each by its share of
/// the answers. 0 of none.
LAYARD_EXPORT double calibration_error(std::span<const ReliabilityBin> bins);

/// Bins of the calibration error everywhere but in `route eval`, which has 10.
inline constexpr std::size_t kReliabilityBins = 15;

/// What is left when answers below a confidence are not given.
struct AbstentionPoint {
  double threshold = 0;
  std::size_t answered = 0;
  std::size_t wrong = 0;
  double coverage = 0;  ///< answered / all; 0 of none
  double error = 0;     ///< wrong / answered; 0 of none
};

/// One point per threshold 0, 1/steps, ..., 1. REQUIRES: 1 <= steps <= 1,000.
LAYARD_EXPORT std::vector<AbstentionPoint> abstention_curve(std::span<const JudgedAnswer> answers,
                                                            std::size_t steps);

/// The smallest confidence among the answers for which those with at least it satisfy
/// (wrong + 1) / (count + 1) <= target_error; 1 where there is none. The added one makes a
/// threshold of few answers a careful one.
/// Source: laya 0.4.15 `fit_abstention_thresholds`.
LAYARD_EXPORT double threshold_for_error(std::span<const JudgedAnswer> answers,
                                         double target_error);

// ---- evaluation ----

/// What the answers of one group of questions are worth. All numbers are means over its questions.
struct QuestionMetrics {
  std::string name;  ///< `all`, a type, a bucket such as `choice:3-5`, or a source
  std::size_t questions = 0;
  std::size_t right = 0;
  double accuracy = 0;      ///< right / questions
  double accuracy_low = 0;  ///< 95% interval, by resampling lines
  double accuracy_high = 0;
  double soft_accuracy = 0;  ///< sum over options of target * probability
  double brier = 0;          ///< sum over options of (probability - target)^2, 0 to 2
  double nll = 0;            ///< -sum over options of target * ln(probability)
  double calibration_error = 0;
  /// Mean distance of the expected level from the target's; of its score questions alone.
  double score_error = 0;
  std::size_t score_questions = 0;
  /// Choices of two options and more that were also asked in reverse, and those answered
  /// otherwise.
  std::size_t reversed = 0;
  std::size_t flipped = 0;
  std::vector<ReliabilityBin> bins;  ///< kReliabilityBins of answer_confidence
};

/// A wrong answer, as a person needs it to look into it.
struct Mistake {
  std::size_t line = 0;
  std::string question;  ///< its id
  std::string expected;  ///< the target's most probable option
  std::string answered;
  double confidence = 0;
  std::string text;  ///< the start of the state, at most kMistakeTextBytes
};

inline constexpr std::size_t kMistakesMax = 20;
inline constexpr std::size_t kMistakeTextBytes = 400;
/// Sources that are told apart; questions of further ones are counted under `(further sources)`.
inline constexpr std::size_t kSourcesMax = 100;

struct Evaluation {
  std::string model;
  std::string revision;
  std::string weights_sha256;
  std::string dtype;
  std::string calibration;  ///< ModelOptions::calibration_file
  std::size_t cases = 0;
  std::size_t truncated = 0;  ///< cases of which some text was cut
  QuestionMetrics all;
  std::vector<QuestionMetrics> types;    ///< those that occur, as are the next two
  std::vector<QuestionMetrics> buckets;  ///< in the order of types and sizes
  std::vector<QuestionMetrics> sources;  ///< in the order of their first line; empty without any
  std::vector<AbstentionPoint> abstention;
  std::vector<Mistake> mistakes;  ///< the most confident first
  double ms_per_question = 0;     ///< asking in shared passes, without those in reverse
};

struct EvaluationOptions {
  /// Also asks choices with their options in reverse.
  bool reverse = true;
};

/// Opens a model, asks it every question and compares. `progress(done, total)` counts calls and may
/// be empty. Errors: those of Model::open; those of the questions, naming the line.
LAYARD_EXPORT Result<Evaluation> evaluate(
    const ModelOptions& model, std::span<const EvaluationCase> cases,
    const EvaluationOptions& options,
    const std::function<void(std::size_t, std::size_t)>& progress);

/// For people; the first line is `accuracy 82.3% (4321/5250)`.
LAYARD_EXPORT std::string print_evaluation(const Evaluation& evaluation);

/// The same numbers as JSON, indented by one (docs/output.md).
LAYARD_EXPORT std::string evaluation_json(const Evaluation& evaluation);

/// One page of HTML that needs no other file, no network and no script. `data` is what it says the
/// lines came from.
LAYARD_EXPORT std::string evaluation_html(const Evaluation& evaluation, std::string_view data);

// ---- calibration ----

struct FitOptions {
  /// Wrong answers that are accepted among those at an abstention threshold; in (0, 1).
  double target_error = 0.10;
  /// Questions that a bucket and a type must have for a temperature of their own, from 1 on.
  std::size_t bucket_floor = 2000;
  std::size_t type_floor = 10;
  /// Also fits the map from answer_confidence to how often such answers were right.
  bool binning_map = false;
};

/// One type or bucket before and after. Before: with the temperatures that the model was opened
/// with. After: with those fitted on four fifths of the questions. Both are measured on the fifth
/// that was held out, which is empty where there are fewer than five questions.
struct TemperatureFit {
  std::string name;  ///< `all`, a type, or a bucket
  std::size_t questions = 0;
  double temperature = 1;  ///< in force after the fit, on all questions; 1 for `all`
  bool fitted = false;     ///< its own: false below the floor
  bool clamped = false;    ///< the fit went beyond [0.5, 5]
  std::size_t held_out = 0;
  double nll_before = 0;
  double nll_after = 0;
  double calibration_error_before = 0;
  double calibration_error_after = 0;
  /// Smallest answer_confidence that keeps the target error; buckets of 100 questions and more.
  double threshold = 0;
  bool has_threshold = false;
};

struct CalibrationFit {
  std::string json;  ///< the calibration file, version 2
  TemperatureFit all;
  std::vector<TemperatureFit> types;    ///< those that occur
  std::vector<TemperatureFit> buckets;  ///< those that occur
};

/// Opens a model, asks it every question and fits the temperatures under which the targets are
/// least surprising (mean negative log likelihood). Deterministic for the same answers.
/// Errors: as evaluate(); kInvalidRequest: an option out of range.
/// Source: laya 0.4.15 `fit_temperature_map`, `fit_binning_map`, `fit_abstention_thresholds`,
/// `save_calibration` (objective, floors, clamps, file). Departs: one bisection per temperature in
/// the place of L-BFGS, which finds the same minimum; docs/evaluation.md.
LAYARD_EXPORT Result<CalibrationFit> fit_temperatures(
    const ModelOptions& model, std::span<const EvaluationCase> cases, const FitOptions& options,
    const std::function<void(std::size_t, std::size_t)>& progress);

/// For people: a line per type and bucket.
LAYARD_EXPORT std::string print_fit(const CalibrationFit& fit);

// ---- files of reports ----

/// Whether write_report() could write there, as far as that is known before there is a report.
/// Errors: kIo: no such folder, or a folder in the file's place.
LAYARD_EXPORT Status check_report_path(const std::string& path);

/// Puts `text` into the file: whoever reads it finds the old content or all of the new.
/// Errors: kIo; the old content stays.
LAYARD_EXPORT Status write_report(const std::string& path, std::string_view text);

}  // namespace layard
