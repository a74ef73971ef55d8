/// Cutting of stored weights into panels of float32, float16 or bfloat16.
#pragma once

#include "kernels/gemm-inl.h"

namespace layard::kernels {
namespace {

/// Elements of each row that packing widens at a time.
constexpr std::size_t kPackStep = 64;

/// Widened elements [first, first + length) of `columns` rows; a null row is zero.
template <class V, std::size_t kColumns>
LAYARD_INLINE void widen_rows(const void* const* rows, ElementType type, std::size_t first,
                              std::size_t length, float (&wide)[kColumns][kPackStep]) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (rows[c] == nullptr) continue;  // stays zero
    const auto* bytes = static_cast<const unsigned char*>(rows[c]);
    widen<V>(bytes + first * element_bytes(type), type, length, wide[c]);
  }
}

struct AsFloat32 {
  using Stored = float;
  static LAYARD_INLINE float of(float x) { return x; }
};
struct AsFloat16 {
  using Stored = std::uint16_t;
  static LAYARD_INLINE std::uint16_t of(float x) { return round_float16(x); }
};
struct AsBFloat16 {
  using Stored = std::uint16_t;
  static LAYARD_INLINE std::uint16_t of(float x) { return round_bfloat16(x); }
};

/// Panel [k][panel_width] of As::Stored.
template <class T, class As>
void pack_panel(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  auto* panel = reinterpret_cast<typename As::Stored*>(out);
  float wide[kPanel][kPackStep] = {};
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen_rows<typename T::V>(rows, type, first, length, wide);
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t c = 0; c < kPanel; ++c) {
        panel[(first + i) * kPanel + c] = As::of(wide[c][i]);
        asm volatile("");  // else the compiler gathers, at half the speed of plain moves
      }
    }
  }
}

}  // namespace
}  // namespace layard::kernels
