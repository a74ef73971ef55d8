/// Widening of stored weights and their cutting into panels.
#pragma once

#include "kernels/gemm-inl.h"

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

template <class T>
void pack_panel(const void* const* rows, ElementType type, std::size_t k, float* panel) {
  constexpr std::size_t kPanel = panel_width<T>();
  constexpr std::size_t kStep = 64;  // elements of each row widened at a time
  float wide[kPanel][kStep] = {};
  for (std::size_t first = 0; first < k; first += kStep) {
    const std::size_t length = k - first < kStep ? k - first : kStep;
    for (std::size_t c = 0; c < kPanel; ++c) {
      if (rows[c] == nullptr) continue;  // stays zero
      const auto* bytes = static_cast<const unsigned char*>(rows[c]);
      widen<typename T::V>(bytes + first * element_bytes(type), type, length, wide[c]);
    }
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t c = 0; c < kPanel; ++c) {
        panel[(first + i) * kPanel + c] = wide[c][i];
        asm volatile("");  // else the compiler gathers, at half the speed of plain moves
      }
    }
  }
}

}  // namespace
}  // namespace layard::kernels
