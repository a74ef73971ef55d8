/// Exact widening of stored numbers, and rounding to 16-bit ones.
#pragma once

#include "kernels/kernels.h"
#include "kernels/target.h"

namespace layard::kernels {
namespace {

template <class V>
LAYARD_INLINE typename V::Reg load_half(const std::uint16_t* p, ElementType type) {
  return type == ElementType::kFloat16 ? V::load_float16(p) : V::load_bfloat16(p);
}

template <class V>
void widen(const void* from, ElementType type, std::size_t n, float* to) {
  std::size_t i = 0;
  if (type == ElementType::kFloat32) {
    __builtin_memcpy(to, from, n * sizeof(float));  // tensors in a file may be unaligned
    return;
  }
  const auto* in = static_cast<const std::uint16_t*>(from);
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(to + i, load_half<V>(in + i, type));
  if (i == n) return;
  std::uint16_t tail[V::kWidth] = {};
  __builtin_memcpy(tail, in + i, (n - i) * sizeof(std::uint16_t));
  V::store_first(to + i, n - i, load_half<V>(tail, type));
}

/// Bytes of one element.
constexpr std::size_t element_bytes(ElementType type) {
  return type == ElementType::kFloat32 ? sizeof(float) : sizeof(std::uint16_t);
}

/// The nearest bfloat16, ties to even; NaN stays NaN.
LAYARD_INLINE std::uint16_t round_bfloat16(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  if (x != x) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

/// The nearest float16, ties to even; too large becomes infinity, NaN stays NaN.
inline std::uint16_t round_float16(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  if (size > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (size >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (size < 0x38800000U) {  // a multiple of 2^-24: adding 0.5 leaves it in the low bits
    float magic;
    __builtin_memcpy(&magic, &size, sizeof(magic));
    magic += 0.5F;
    std::uint32_t rounded;
    __builtin_memcpy(&rounded, &magic, sizeof(rounded));
    return static_cast<std::uint16_t>(sign | (rounded - 0x3F000000U));
  }
  const std::uint32_t odd = (size >> 13U) & 1U;
  return static_cast<std::uint16_t>(sign | ((size - 0x38000000U + 0xFFFU + odd) >> 13U));
}

}  // namespace
}  // namespace layard::kernels
