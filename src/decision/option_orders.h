/// The same question with its options in several orders: which orders, and one answer from the
/// rows of all of them.
///
/// A model may prefer an option for the place it stands in. Showing the options in several orders
/// and taking the mean of the probabilities takes that out of the answer, and how far the orders
/// differ says how much there was to take out. Only choice questions are turned: a score's levels
/// and a noul's two sides have an order of their own.
/// Source: ours (docs/answers.md); laya 0.4.15 hooks.py OptionStabilityHook (choice questions
/// only). Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decision/answers.h"
#include "decision/calibration.h"
#include "decision/prompt.h"
#include "layard/answer.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// Distinct orders of the question's options, slot s showing option order[s]: the one the question
/// has, then the same from the last option to the first, then permutations drawn from a seed that
/// follows from its type, instructions and options (not its id). As many as `wanted` or as there
/// are; one of a score, a noul and a single option.
/// REQUIRES: 1 <= wanted <= kOrdersMax.
std::vector<std::vector<std::uint32_t>> option_orders(const Question& question, int wanted);

/// Questions as rows ask them: each once an order, those of one question beside each other.
struct OrderedQuestions {
  QuestionSet asked;
  std::vector<std::size_t> counts;  // orders of each question

  bool empty() const { return counts.empty(); }
};

/// Empty for `orders` 1: the questions themselves are asked.
/// REQUIRES: 1 <= orders <= kOrdersMax.
OrderedQuestions in_orders(const QuestionSet& questions, int orders);

/// As decode_answers, from one row and one RowScores for each of ordered.asked: probabilities and
/// act_probability are means over a question's orders (of the calibrated probabilities, in double,
/// each then rounded to float32), usage counts every row's tokens, and `stability` is filled.
/// Errors: as decode_answer.
Result<AnswerSet> decode_orders(const QuestionSet& questions, const OrderedQuestions& ordered,
                                std::span<const PromptRow> rows, std::span<const RowScores> scores,
                                const Calibration& calibration);

}  // namespace layard::decision
