/// The one number that logits are divided by, fitted.
/// Thread-safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "layard/evaluation.h"

namespace layard::evaluation {

/// Logits of one question in label order, and what is true. REQUIRES: outlived by what they view.
struct FitRow {
  std::span<const double> logits;
  std::span<const double> target;
};

struct FittedTemperature {
  double temperature = 1;  ///< in [0.5, 5], 4 decimals
  bool clamped = false;    ///< the minimum is beyond these bounds
};

/// The temperature T under which the mean of -sum target ln softmax(logits / T) is least.
///
/// That mean is convex in 1/T, so it has one minimum, and its slope in 1/T, the mean of
/// E[logit] - sum target * logit under softmax(logits / T), changes its sign there once: bisection
/// on ln T between ln 0.5 - 10 and ln 5 + 10 finds it, the same on every machine. Rows that do not
/// depend on T (one option, equal logits) leave it at 1.
/// Source: laya 0.4.15 `fit_temperature_map` (objective, start, bounds); departs: bisection.
FittedTemperature fit_temperature(std::span<const FitRow> rows);

}  // namespace layard::evaluation
