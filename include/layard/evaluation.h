/// How good a checkpoint's answers are on labelled questions, and the temperatures that make its
/// probabilities honest: `layard evaluate` and `layard fit-temperatures`. docs/evaluation.md
/// defines every number.
///
/// Thread-safety: values are plain; functions without a model are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
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

}  // namespace layard
