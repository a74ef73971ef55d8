/// exp, erf and GELU on vectors. Coefficients are our own least-maximum fits (in double, rounded to
/// float); the errors stated in kernels.h are measured by math_test.cc against double precision.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

constexpr std::size_t round_up(std::size_t n, std::size_t step) {
  return (n + step - 1) / step * step;
}

/// c[0] + c[1] x + ... by Horner's rule.
template <class V, std::size_t kTerms>
LAYARD_INLINE typename V::Reg polynomial(const float (&c)[kTerms], typename V::Reg x) {
  typename V::Reg sum = V::set1(c[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) sum = V::fma(sum, x, V::set1(c[i]));
  return sum;
}

/// e^x = 2^n e^r with |r| <= ln 2 / 2; zero below -87, so that 2^n stays normal.
template <class V>
LAYARD_INLINE typename V::Reg exp_of(typename V::Reg x) {
  using Reg = typename V::Reg;
  constexpr float kLowest = -87.0F;
  // 1 + r + r^2 (...): maximum relative error 3e-9 before rounding.
  constexpr float kTail[] = {0.4999999403953552F, 0.1666651964187622F, 0.04166839271783829F,
                             0.008368780836462975F, 0.0013814461417496204F};
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Reg clamped = V::min(V::set1(88.0F), V::max(V::set1(kLowest), x));
  const Reg shifted = V::fma(clamped, V::set1(1.44269504088896341F), V::set1(kShift));
  const Reg n = V::sub(shifted, V::set1(kShift));
  Reg r = V::fma(n, V::set1(-0.693359375F), clamped);  // ln 2 in two parts, the first exact
  r = V::fma(n, V::set1(2.12194440e-4F), r);
  const Reg tail = V::mul(V::mul(r, r), polynomial<V>(kTail, r));
  const Reg value = V::add(V::set1(1.0F), V::add(r, tail));
  return V::if_less(x, V::set1(kLowest), V::zero(), V::scale_by_power(value, shifted));
}

/// erf x = x P(x^2) up to 1, and 1 - e^(t Q(t)) with t = min(|x|, 4) beyond.
template <class V>
LAYARD_INLINE typename V::Reg erf_of(typename V::Reg x) {
  using Reg = typename V::Reg;
  constexpr float kNear[] = {1.1283791065216064F,   -0.37612324953079224F, 0.11280179768800735F,
                             -0.02671130746603012F, 0.004917546641081572F, -0.0005631403182633221F};
  constexpr float kFar[] = {-1.128480076789856F,  -0.6358314156532288F,   -0.10511622577905655F,
                            0.02279851958155632F, -0.003186964662745595F, 0.00021064547763671726F};
  const Reg size = V::abs(x);
  const Reg near = V::mul(x, polynomial<V>(kNear, V::mul(x, x)));
  const Reg t = V::min(V::set1(4.0F), size);
  const Reg rest = exp_of<V>(V::mul(t, polynomial<V>(kFar, t)));
  const Reg far = V::copysign(V::sub(V::set1(1.0F), rest), x);
  return V::if_less(V::set1(1.0F), size, far, near);
}

template <class V>
LAYARD_INLINE typename V::Reg gelu_of(typename V::Reg x) {
  const typename V::Reg half = V::mul(x, V::set1(0.5F));
  return V::fma(half, erf_of<V>(V::mul(x, V::set1(0.70710678118654752F))), half);
}

template <class V>
void exp_all(const float* x, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(out + i, exp_of<V>(V::load(x + i)));
  if (i < n) V::store_first(out + i, n - i, exp_of<V>(V::load_first(x + i, n - i)));
}

template <class V>
void erf_all(const float* x, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(out + i, erf_of<V>(V::load(x + i)));
  if (i < n) V::store_first(out + i, n - i, erf_of<V>(V::load_first(x + i, n - i)));
}

template <class V>
void gelu_all(const float* x, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(out + i, gelu_of<V>(V::load(x + i)));
  if (i < n) V::store_first(out + i, n - i, gelu_of<V>(V::load_first(x + i, n - i)));
}

}  // namespace
}  // namespace layard::kernels
