/// 2 x 2 blocks of BFMMLA and SMMLA. See neon_block_emulated-inl.h for what each operation means.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

#if defined(LAYARD_KERNELS_BFMMLA)
struct NeonBFloat16Block {
  using Sum = float;
  using Sums = float32x4_t;
  using Operand = bfloat16x8_t;
  static constexpr std::size_t kStep = 4;
  static constexpr bool kScaled = false;

  static LAYARD_INLINE Operand operand(const std::byte* p) {
    return vreinterpretq_bf16_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(p)));
  }
  static LAYARD_INLINE Sums zero() { return vdupq_n_f32(0.0F); }
  static LAYARD_INLINE Sums dot(Sums sum, Operand a, Operand b) { return vbfmmlaq_f32(sum, a, b); }
  static LAYARD_INLINE void load(const float* row0, const float* row1, Sums& left, Sums& right) {
    const float32x4_t first = vld1q_f32(row0);
    const float32x4_t second = vld1q_f32(row1);
    left = vcombine_f32(vget_low_f32(first), vget_low_f32(second));
    right = vcombine_f32(vget_high_f32(first), vget_high_f32(second));
  }
  static LAYARD_INLINE void store(Sums left, Sums right, float* row0, float* row1) {
    vst1q_f32(row0, vcombine_f32(vget_low_f32(left), vget_low_f32(right)));
    vst1q_f32(row1, vcombine_f32(vget_high_f32(left), vget_high_f32(right)));
  }
  static LAYARD_INLINE void round_row(const float* x, std::byte* out) {
    vst1_u16(reinterpret_cast<std::uint16_t*>(out),
             vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(x))));
  }
};
#endif

#if defined(LAYARD_KERNELS_SMMLA)
struct NeonInt8Block {
  using Sum = std::int32_t;
  using Sums = int32x4_t;
  using Operand = int8x16_t;
  static constexpr std::size_t kStep = 8;
  static constexpr bool kScaled = true;

  static LAYARD_INLINE Operand operand(const std::byte* p) {
    return vld1q_s8(reinterpret_cast<const std::int8_t*>(p));
  }
  static LAYARD_INLINE Sums zero() { return vdupq_n_s32(0); }
  static LAYARD_INLINE Sums dot(Sums sum, Operand a, Operand b) { return vmmlaq_s32(sum, a, b); }
  static LAYARD_INLINE void load(const std::int32_t* row0, const std::int32_t* row1, Sums& left,
                                 Sums& right) {
    const int32x4_t first = vld1q_s32(row0);
    const int32x4_t second = vld1q_s32(row1);
    left = vcombine_s32(vget_low_s32(first), vget_low_s32(second));
    right = vcombine_s32(vget_high_s32(first), vget_high_s32(second));
  }
  static LAYARD_INLINE void store(Sums left, Sums right, std::int32_t* row0, std::int32_t* row1) {
    vst1q_s32(row0, vcombine_s32(vget_low_s32(left), vget_low_s32(right)));
    vst1q_s32(row1, vcombine_s32(vget_high_s32(left), vget_high_s32(right)));
  }
};
#endif

}  // namespace
}  // namespace layard::kernels
