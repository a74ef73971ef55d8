/// Answers, token usage and warnings: plain values, and the doors that print and read them.
///
/// Numbers are already rounded to 4 decimals; field order in print is upstream's and fixed.
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/question.h"

namespace layard {

/// One label and its calibrated probability in [0, 1].
struct LabelProbability {
  std::string key;
  double probability = 0;

  friend bool operator==(const LabelProbability&, const LabelProbability&) = default;
};

/// The picked label. `confidence` is 1 - H(p)/log(k); gate on `answer_confidence` = max(p).
struct ChoiceAnswer {
  Label choice;
  std::vector<LabelProbability> probabilities;  // in label order
  double confidence = 0;
  double answer_confidence = 0;

  friend bool operator==(const ChoiceAnswer&, const ChoiceAnswer&) = default;
};

/// `score` is the expected level, sum of i * p_i; level i is described by legend[i].
struct ScoreAnswer {
  double score = 0;
  std::vector<std::string> legend;
  std::vector<double> probabilities;
  double confidence = 0;
  double answer_confidence = 0;

  friend bool operator==(const ScoreAnswer&, const ScoreAnswer&) = default;
};

/// `noul` is P(true); both confidences are max(noul, 1 - noul).
struct NoulAnswer {
  double noul = 0;
  double confidence = 0;
  double answer_confidence = 0;

  friend bool operator==(const NoulAnswer&, const NoulAnswer&) = default;
};

/// The window of a long state that decided an answer. Token offsets into the whole state.
struct AnswerWindow {
  std::int64_t index = 0;
  std::int64_t token_start = 0;
  std::int64_t token_end = 0;
  std::int64_t count = 0;

  friend bool operator==(const AnswerWindow&, const AnswerWindow&) = default;
};

/// One question's answer.
struct Answer {
  std::string id;
  std::variant<ChoiceAnswer, ScoreAnswer, NoulAnswer> value;
  double act_probability = 0;
  std::optional<AnswerWindow> window;  // only when the state was scanned in windows

  QuestionType type() const { return static_cast<QuestionType>(value.index()); }
  friend bool operator==(const Answer&, const Answer&) = default;
};

/// A question some of whose options became the same tokens when they were shortened.
struct CollapsedOptions {
  std::string question;
  std::int64_t total = 0;
  std::int64_t distinct = 0;
  std::optional<std::int64_t> tokens_per_option;

  friend bool operator==(const CollapsedOptions&, const CollapsedOptions&) = default;
};

/// Token counts of one request.
struct Usage {
  std::int64_t input_tokens = 0;
  /// False when nothing ran (no questions): then only the two token counts are printed.
  bool ran = false;
  std::int64_t state_tokens = 0;
  std::int64_t state_tokens_dropped = 0;  // the worst question's
  /// 0 or 1, printed as a bool; when windows were summed, in how many of them, as a number.
  std::int64_t truncated = 0;
  std::vector<std::string> truncated_questions;
  std::vector<CollapsedOptions> options;  // printed only when not empty
  std::optional<std::int64_t> windows;
  bool summed = false;  // over more than one window

  friend bool operator==(const Usage&, const Usage&) = default;
};

/// How far a question's answer depends on the order in which its options were shown. Only choice
/// questions of at least two options are shown in more orders than one: the levels of a score and
/// the two sides of a noul have an order of their own.
struct OrderStability {
  std::string question;
  /// Orders that were run, each once; below what was asked for where there are fewer.
  std::int64_t orders = 1;
  /// What each order alone would have answered: the order the question has, then the same from the
  /// last option to the first, then others. Empty for one order, and then nothing that follows is
  /// printed either.
  std::vector<Label> choices;
  /// Share of `choices` that are the answer. 4 decimals, as `spread`.
  double agreement = 1;
  /// Largest difference between the orders in the answer's probability.
  double spread = 0;

  friend bool operator==(const OrderStability&, const OrderStability&) = default;
};

/// One more member of the printed root, such as `routing` or `runtime`. `json` is a JSON text.
struct ExtraField {
  std::string key;
  std::string json;

  friend bool operator==(const ExtraField&, const ExtraField&) = default;
};

/// All answers of one request, in question order.
struct AnswerSet {
  std::string model = "laya-rl-agent";
  std::vector<Answer> answers;
  Usage usage;
  std::vector<std::string> warnings;  // printed only when not empty, never inside an answer
  std::vector<ExtraField> extra;
  /// One a question, where several orders of options were asked for; printed only when not empty,
  /// as `stability`, after the warnings.
  std::vector<OrderStability> stability = {};

  friend bool operator==(const AnswerSet&, const AnswerSet&) = default;
};

/// `{"model", "answers", "usage", "warnings"?, "stability"?, extra...}`. An extra member whose name
/// is already taken is left out; one whose text is not JSON is printed as a string.
/// Source: laya 0.4.15 agent.py `_decode_answers` and `predict_batch` (fields and their order).
LAYARD_EXPORT std::string print_answers(const AnswerSet& answers, const CodecOptions& options);

/// Reads what print_answers printed (also upstream's and other servers' answers; members it does
/// not know are ignored inside answers and kept as `extra` at the root).
/// Errors: kInvalidRequest naming the member that is missing or has the wrong type.
LAYARD_EXPORT Result<AnswerSet> parse_answers(std::string_view json);

}  // namespace layard
