/// From one answer and its target to the numbers that groups of questions are summed up by.
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "evaluation/ask.h"
#include "layard/evaluation.h"

namespace layard::evaluation {

struct Judgement {
  /// The picked option is the target's most probable one, or one of those.
  bool right = false;
  double soft_accuracy = 0;
  double brier = 0;
  double nll = 0;
  double score_error = 0;  ///< score questions only
};

/// ln softmax(logits / temperature), in double. REQUIRES: finite logits, temperature > 0.
std::vector<double> log_probabilities(std::span<const double> logits, double temperature);

/// REQUIRES: one entry of `target` per logit, at least one.
Judgement judge(const AskedQuestion& asked, const Target& target);

/// The option that is most probable by `target`, the first of equals.
std::size_t expected_option(const Target& target);

}  // namespace layard::evaluation
