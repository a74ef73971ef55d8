/// From a row's logits to a typed answer, digit for digit as upstream computes it.
///
/// Source: laya 0.4.15 agent.py `_decode_answers`, `predict_batch` (usage); common.py
/// `answer_confidence`, `confidence_from_probs`, `unpermute_probs`, `collapsed_options`.
/// Thread-safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "decision/calibration.h"
#include "decision/prompt.h"
#include "layard/answer.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// What the model returned for one row: one logit a slot, and softmax(act logits)[0].
struct RowScores {
  std::span<const float> logits;
  float act_probability = 0;
};

/// The softmax of a row's act logits in float32. Non-finite input gives non-finite output, which
/// decode_answer refuses.
std::vector<float> act_softmax(std::span<const float> act_logits);

/// Calibrated probabilities in label order (option_order undone), in float32:
/// z = logits / T, p = exp(z - max z), p /= sum p.
/// Errors: kInternal naming the question when the logits are not one per option or not finite.
Result<std::vector<float>> option_probabilities(const Question& question,
                                                std::span<const float> logits,
                                                const Calibration& calibration);

/// The calibrated probabilities of a row, as option_probabilities.
/// Errors: kInternal (`inference failed: ...`) naming the question and what was not finite.
Result<std::vector<float>> row_probabilities(const Question& question, const RowScores& scores,
                                             const Calibration& calibration);

/// One answer from calibrated probabilities in label order, rounded to 4 decimals at the very end;
/// the calibration says what the largest is worth as answer_confidence.
/// REQUIRES: one finite probability an option.
Answer make_answer(const Question& question, std::span<const float> probabilities,
                   double act_probability, const Calibration& calibration);

/// One row's answer. Errors: as row_probabilities.
Result<Answer> decode_answer(const Question& question, const RowScores& scores,
                             const Calibration& calibration);

/// What the rows of one request cost; `rows[i]` is questions[i]'s.
Usage count_usage(const QuestionSet& questions, std::span<const PromptRow> rows);

/// Answers, usage and no warnings. Without questions: no answers and the two token counts.
/// REQUIRES: one row and one RowScores a question. Errors: as decode_answer.
Result<AnswerSet> decode_answers(const QuestionSet& questions, std::span<const PromptRow> rows,
                                 std::span<const RowScores> scores, const Calibration& calibration);

}  // namespace layard::decision
