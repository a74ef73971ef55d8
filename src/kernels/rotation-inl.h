/// Rotates blocks of 64 elements: signs, then the Hadamard transform, whose element (i, j) is -1 to
/// the number of ones in i & j. Divided by 8 it is orthogonal: the product of two rotated vectors
/// is 64 times that of the vectors, but a single large value becomes 64 middling ones, so that
/// 8-bit integers with one scale lose less. Every sum is of the same two numbers on every
/// instruction set.
#pragma once

#include "kernels/kernels.h"
#include "kernels/rotation_signs.h"
#include "kernels/target.h"

namespace layard::kernels {
namespace {

/// What the product of two rotated blocks is divided by.
constexpr float kRotationGain = 64.0F;

struct RotationSigns {
  float of[kRotation];
};
constexpr RotationSigns kBlockSigns = [] {
  RotationSigns signs{};
  for (std::size_t i = 0; i < kRotation; ++i) signs.of[i] = rotation_sign(i);
  return signs;
}();

/// Lane i of a register: -1 where i has the bit `distance`.
constexpr std::size_t kLanesMax = 16;
template <std::size_t kDistance>
struct LaneSigns {
  float of[kLanesMax];
};
template <std::size_t kDistance>
constexpr LaneSigns<kDistance> kLaneSigns = [] {
  LaneSigns<kDistance> signs{};
  for (std::size_t i = 0; i < kLanesMax; ++i) signs.of[i] = (i & kDistance) != 0 ? -1.0F : 1.0F;
  return signs;
}();

/// A block in registers.
template <class V>
struct RotatedBlock {
  static constexpr std::size_t kRegs = kRotation / V::kWidth;
  static_assert(V::kWidth <= kLanesMax && kRegs <= 16);
  typename V::Reg reg[kRegs];

  /// The block that starts at x, of which `left` elements are there and the rest zero.
  LAYARD_INLINE RotatedBlock(const float* x, std::size_t left) {
    LAYARD_UNROLL
    for (std::size_t r = 0; r < kRegs; ++r) {
      const std::size_t first = r * V::kWidth;
      const typename V::Reg value = first + V::kWidth <= left ? V::load(x + first)
                                    : first < left ? V::load_first(x + first, left - first)
                                                   : V::zero();
      reg[r] = V::mul(value, V::load(kBlockSigns.of + first));
    }
    between_registers<kRegs / 2>();
    within_registers<V::kWidth / 2>();
  }

 private:
  template <std::size_t kStep>
  LAYARD_INLINE void between_registers() {
    if constexpr (kStep > 0) {
      LAYARD_UNROLL
      for (std::size_t r = 0; r < kRegs; ++r) {
        if ((r & kStep) != 0) continue;
        const typename V::Reg a = reg[r];
        const typename V::Reg b = reg[r + kStep];
        reg[r] = V::add(a, b);
        reg[r + kStep] = V::sub(a, b);
      }
      between_registers<kStep / 2>();
    }
  }
  template <std::size_t kDistance>
  LAYARD_INLINE void within_registers() {
    if constexpr (kDistance > 0) {
      const typename V::Reg signs = V::load(kLaneSigns<kDistance>.of);
      LAYARD_UNROLL
      for (std::size_t r = 0; r < kRegs; ++r) {
        // The product with a sign is exact, so this is one sum, fused or not.
        reg[r] = V::fma(reg[r], signs, V::template swap_lanes<kDistance>(reg[r]));
      }
      within_registers<kDistance / 2>();
    }
  }
};

}  // namespace
}  // namespace layard::kernels
