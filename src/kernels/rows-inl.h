/// Kernels on single rows: layer norm, softmax, sums, dot products, rotation.
#pragma once

#include "kernels/math-inl.h"

namespace layard::kernels {
namespace {

/// Four running vectors, then one: the fixed tree of every row sum. Term(i) is the vector at i,
/// TailTerm(i, left) the last `left` elements with zeros after them.
template <class V, class Terms>
LAYARD_INLINE float tree_sum(std::size_t n, const Terms& terms) {
  using Reg = typename V::Reg;
  Reg a = V::zero();
  Reg b = V::zero();
  Reg c = V::zero();
  Reg d = V::zero();
  std::size_t i = 0;
  for (; i + 4 * V::kWidth <= n; i += 4 * V::kWidth) {
    a = terms.add(a, i);
    b = terms.add(b, i + V::kWidth);
    c = terms.add(c, i + 2 * V::kWidth);
    d = terms.add(d, i + 3 * V::kWidth);
  }
  for (; i + V::kWidth <= n; i += V::kWidth) a = terms.add(a, i);
  if (i < n) b = terms.add_first(b, i, n - i);
  return V::sum(V::add(V::add(a, b), V::add(c, d)));
}

template <class V>
struct PlainTerms {
  const float* x;
  LAYARD_INLINE typename V::Reg add(typename V::Reg sum, std::size_t i) const {
    return V::add(sum, V::load(x + i));
  }
  LAYARD_INLINE typename V::Reg add_first(typename V::Reg sum, std::size_t i, std::size_t n) const {
    return V::add(sum, V::load_first(x + i, n));
  }
};

template <class V>
struct SquareTerms {
  const float* x;
  typename V::Reg mean;
  LAYARD_INLINE typename V::Reg add(typename V::Reg sum, std::size_t i) const {
    const typename V::Reg d = V::sub(V::load(x + i), mean);
    return V::fma(d, d, sum);
  }
  LAYARD_INLINE typename V::Reg add_first(typename V::Reg sum, std::size_t i, std::size_t n) const {
    const typename V::Reg d = V::keep_first(V::sub(V::load_first(x + i, n), mean), n);
    return V::fma(d, d, sum);
  }
};

template <class V>
struct ProductTerms {
  const float* x;
  const float* y;
  LAYARD_INLINE typename V::Reg add(typename V::Reg sum, std::size_t i) const {
    return V::fma(V::load(x + i), V::load(y + i), sum);
  }
  LAYARD_INLINE typename V::Reg add_first(typename V::Reg sum, std::size_t i, std::size_t n) const {
    return V::fma(V::load_first(x + i, n), V::load_first(y + i, n), sum);
  }
};

template <class V>
float dot(const float* x, const float* y, std::size_t n) {
  return tree_sum<V>(n, ProductTerms<V>{x, y});
}

template <class V>
void layer_norm(const NormArgs& args, const float* x, float* out) {
  using Reg = typename V::Reg;
  const std::size_t n = args.n;
  const auto count = static_cast<float>(n);
  const float mean = tree_sum<V>(n, PlainTerms<V>{x}) / count;
  const Reg mean_v = V::set1(mean);
  const float variance = tree_sum<V>(n, SquareTerms<V>{x, mean_v}) / count;
  const Reg scale = V::set1(1.0F / __builtin_sqrtf(variance + args.eps));
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) {
    const Reg unit = V::mul(V::sub(V::load(x + i), mean_v), scale);
    const Reg shift = args.bias != nullptr ? V::load(args.bias + i) : V::zero();
    V::store(out + i, V::fma(unit, V::load(args.weight + i), shift));
  }
  if (i < n) {
    const std::size_t left = n - i;
    const Reg unit = V::mul(V::sub(V::load_first(x + i, left), mean_v), scale);
    const Reg shift = args.bias != nullptr ? V::load_first(args.bias + i, left) : V::zero();
    V::store_first(out + i, left, V::fma(unit, V::load_first(args.weight + i, left), shift));
  }
}

template <class V>
void add_to(const float* y, std::size_t n, float* x) {
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) {
    V::store(x + i, V::add(V::load(x + i), V::load(y + i)));
  }
  if (i < n) {
    const std::size_t left = n - i;
    V::store_first(x + i, left, V::add(V::load_first(x + i, left), V::load_first(y + i, left)));
  }
}

template <class V>
LAYARD_INLINE float max_of_row(const float* x, std::size_t n) {
  float most = x[0];
  std::size_t i = 0;
  if (n >= V::kWidth) {
    typename V::Reg best = V::load(x);
    for (i = V::kWidth; i + V::kWidth <= n; i += V::kWidth) best = V::max(best, V::load(x + i));
    most = V::max_of(best);
  }
  for (; i < n; ++i) most = most > x[i] ? most : x[i];
  return most;
}

/// row = exp(scale * (row - max)), returns the sum. A NaN anywhere makes the sum NaN.
template <class V>
float exp_shifted(float scale, std::size_t n, float* row) {
  using Reg = typename V::Reg;
  const Reg most = V::set1(max_of_row<V>(row, n));
  const Reg factor = V::set1(scale);
  Reg sum = V::zero();
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) {
    const Reg p = exp_of<V>(V::mul(V::sub(V::load(row + i), most), factor));
    V::store(row + i, p);
    sum = V::add(sum, p);
  }
  if (i < n) {
    const std::size_t left = n - i;
    const Reg p =
        V::keep_first(exp_of<V>(V::mul(V::sub(V::load_first(row + i, left), most), factor)), left);
    V::store_first(row + i, left, p);
    sum = V::add(sum, p);
  }
  return V::sum(sum);
}

template <class V>
void softmax(float scale, std::size_t n, float* row) {
  if (n == 0) return;
  const typename V::Reg factor = V::set1(1.0F / exp_shifted<V>(scale, n, row));
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(row + i, V::mul(V::load(row + i), factor));
  if (i < n) V::store_first(row + i, n - i, V::mul(V::load_first(row + i, n - i), factor));
}

template <class V>
LAYARD_INLINE void rotate_pair(typename V::Reg cosine, typename V::Reg sine, typename V::Reg& low,
                               typename V::Reg& high) {
  const typename V::Reg turned = V::sub(V::mul(low, cosine), V::mul(high, sine));
  high = V::add(V::mul(high, cosine), V::mul(low, sine));
  low = turned;
}

template <class V>
void rope(const float* cosine, const float* sine, std::size_t half, std::size_t heads, float* x) {
  using Reg = typename V::Reg;
  for (std::size_t h = 0; h < heads; ++h) {
    float* lows = x + h * 2 * half;
    float* highs = lows + half;
    std::size_t i = 0;
    for (; i + V::kWidth <= half; i += V::kWidth) {
      Reg low = V::load(lows + i);
      Reg high = V::load(highs + i);
      rotate_pair<V>(V::load(cosine + i), V::load(sine + i), low, high);
      V::store(lows + i, low);
      V::store(highs + i, high);
    }
    if (i < half) {
      const std::size_t left = half - i;
      Reg low = V::load_first(lows + i, left);
      Reg high = V::load_first(highs + i, left);
      rotate_pair<V>(V::load_first(cosine + i, left), V::load_first(sine + i, left), low, high);
      V::store_first(lows + i, left, low);
      V::store_first(highs + i, left, high);
    }
  }
}

}  // namespace
}  // namespace layard::kernels
