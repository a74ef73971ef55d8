/// Asks a checkpoint every question of a file: what `evaluate` and `fit-temperatures` look at.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "layard/error.h"
#include "layard/evaluation.h"
#include "layard/question.h"
#include "runtime/engine.h"

namespace layard::evaluation {

/// One question as it was asked and answered.
struct AskedQuestion {
  std::size_t at_case = 0;      ///< index of its EvaluationCase
  std::size_t at_question = 0;  ///< index in that case
  QuestionType type = QuestionType::kNoul;
  /// One an option, in label order, before temperature: float32's where it decided a near tie.
  std::vector<double> logits;
  double temperature = 1;  ///< that the answer was given with
  std::size_t picked = 0;  ///< the most probable option, the first of equals
  double confidence = 0;   ///< answer_confidence as it is printed
  double score = 0;        ///< as it is printed; score questions only
  /// Whether the options were also shown in reverse, and whether another one was picked then.
  bool shown_reversed = false;
  bool flipped = false;
};

struct AskedCases {
  std::vector<AskedQuestion> questions;  ///< in the order of the cases and their questions
  std::size_t truncated = 0;             ///< cases of which some text was cut
  double ask_ms = 0;                     ///< from rows to answers, without those in reverse
};

/// Calls asked so far, and all of them.
using AskProgress = std::function<void(std::size_t, std::size_t)>;

/// Asks all questions, some lines at a time in shared passes; over-long texts are cut. With
/// `reverse` all choices of two options and more are asked again with their options in reverse.
/// Errors: those of Engine::ensure_loaded and of the questions, naming the line.
/// Thread-safety: as Engine.
Result<AskedCases> ask_cases(runtime::Engine& engine, std::span<const EvaluationCase> cases,
                             bool reverse, const AskProgress& progress);

}  // namespace layard::evaluation
