#include "decision/numpy_math.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace layard::decision {
namespace {

// Horner's scheme with fused steps, highest coefficient first.
template <std::size_t kCount>
float polynomial(const std::array<float, kCount>& coefficients, float x) {
  float value = coefficients[0];
  for (std::size_t i = 1; i < kCount; ++i) value = std::fma(value, x, coefficients[i]);
  return value;
}

template <class T>
T pairwise_sum(std::span<const T> values) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  const std::size_t n = values.size();
  if (n < kLanes) {
    T sum = 0;
    for (const T value : values) sum += value;
    return sum;
  }
  if (n <= kBlock) {
    std::array<T, kLanes> r{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) r[lane] = values[lane];
    std::size_t i = kLanes;
    for (; i < n - n % kLanes; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) r[lane] += values[i + lane];
    }
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum += values[i];
    return sum;
  }
  std::size_t half = n / 2;
  half -= half % kLanes;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

}  // namespace

// exp(x) = 2^k * P(y)/Q(y) with x = k ln 2 + y (Cody-Waite, two steps) and a rational minimax fit.
float numpy_exp(float value) {
  constexpr float kSmallest = -103.97208404541015625F;
  constexpr float kRoundMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLog2E = 1.442695040888963407359924681001892137F;
  constexpr float kLn2High = 6.93145752e-1F;
  constexpr float kLn2Low = 1.42860677e-6F;
  constexpr std::array<float, 6> kNumerator = {
      5.082762527590693718096e-04F, 6.757896990527504603057e-03F, 5.114512081637298353406e-02F,
      2.473615434895520810817e-01F, 7.257664613233124478488e-01F, 9.999999999980870924916e-01F};
  constexpr std::array<float, 3> kDenominator = {2.159509375685829852307e-02F,
                                                 -2.742335390411667452936e-01F, 1.0F};
  if (value < kSmallest) return 0.0F;
  float quotient = value * kLog2E;
  quotient += kRoundMagic;
  quotient -= kRoundMagic;
  float y = std::fma(quotient, -kLn2High, value);
  y = std::fma(quotient, -kLn2Low, y);
  const float fraction = polynomial(kNumerator, y) / polynomial(kDenominator, y);
  return std::ldexp(fraction, static_cast<int>(quotient));
}

// log(m * 2^e) = e ln 2 + P(m - 1)/Q(m - 1) with m in (sqrt(1/2), sqrt(2)].
float numpy_log(float value) {
  constexpr float kSqrtHalf = 0.70710678118654752440F;
  constexpr float kLn2 = 0.693147180559945309417232121458176568F;
  constexpr std::array<float, 6> kNumerator = {
      2.589979117907922693523e-02F, 3.808837741388407920751e-01F, 1.480000633576506585156e+00F,
      2.112677543073053063722e+00F, 9.999999999999998702752e-01F, 0.0F};
  constexpr std::array<float, 6> kDenominator = {
      5.875095403124574342950e-03F, 1.546476374983906719538e-01F, 9.864942958519418960339e-01F,
      2.453006071784736363091e+00F, 2.612677543073109236779e+00F, 1.0F};
  int exponent = 0;
  float mantissa = std::frexp(value, &exponent);
  if (mantissa <= kSqrtHalf) {
    mantissa *= 2.0F;
    exponent -= 1;
  }
  const float x = mantissa - 1.0F;
  const float fraction = polynomial(kNumerator, x) / polynomial(kDenominator, x);
  return std::fma(static_cast<float>(exponent), kLn2, fraction);
}

float numpy_sum(std::span<const float> values) { return pairwise_sum(values); }

double numpy_sum(std::span<const double> values) { return pairwise_sum(values); }

}  // namespace layard::decision
