/// Float32 arithmetic exactly as NumPy does it on x86-64, because upstream's probabilities come
/// from NumPy and a value near a rounding edge would otherwise print another last digit.
///
/// Source: NumPy 2.4 loops_exponent_log (its vector steps; bit-equal to the AVX-512 build, see
/// numpy_math_test.cc) and pairwise_sum. Thread-safety: pure functions.
#pragma once

#include <span>

namespace layard::decision {

/// np.exp of one float32 <= 0 (a logit less the row's maximum). 0 below -103.97.
float numpy_exp(float value);

/// np.log of one normal float32 in (0, 1].
float numpy_log(float value);

/// np.sum of a contiguous array: in order below 8 elements; else eight running sums over blocks
/// of at most 128, combined pairwise.
float numpy_sum(std::span<const float> values);
double numpy_sum(std::span<const double> values);

}  // namespace layard::decision
