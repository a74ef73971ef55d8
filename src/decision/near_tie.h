/// Which answers hang by a thread: those that a slightly less exact model could give differently.
///
/// Source: ours, docs/dtypes.md; upstream has one number format.
/// Thread-safety: pure functions.
#pragma once

#include <span>

#include "decision/calibration.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// Probability that may move from one option to another: the parity gate's tolerance for reduced
/// number formats.
inline constexpr double kNearTieShift = 0.02;

/// Whether moving kNearTieShift of calibrated probability from one option to another could change
/// what the answer says:
///   choice: the two most probable labels are less than 2 * kNearTieShift apart;
///   noul: P(true) is less than kNearTieShift from one half;
///   score: the expected level is less than kNearTieShift * (levels - 1) from the middle between
///     two levels, so that it could round to another level (that far the expected level moves when
///     the probability goes from one end of the scale to the other).
/// With one option: never. `logits` are one a slot, as for decode_answer.
/// Errors: kInternal, those of option_probabilities.
Result<bool> near_tie(const Question& question, std::span<const float> logits,
                      const Calibration& calibration);

}  // namespace layard::decision
