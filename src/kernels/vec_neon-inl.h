/// Four floats on NEON (aarch64). See vec_emulated-inl.h for what each operation means.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

struct Neon {
  using Reg = float32x4_t;
  static constexpr std::size_t kWidth = 4;

  static LAYARD_INLINE Reg zero() { return vdupq_n_f32(0.0F); }
  static LAYARD_INLINE Reg set1(float x) { return vdupq_n_f32(x); }
  static LAYARD_INLINE Reg load(const float* p) { return vld1q_f32(p); }
  static LAYARD_INLINE void store(float* p, Reg v) { vst1q_f32(p, v); }
  static LAYARD_INLINE Reg load_first(const float* p, std::size_t n) {
    float lanes[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) lanes[i] = p[i];
    return vld1q_f32(lanes);
  }
  static LAYARD_INLINE void store_first(float* p, std::size_t n, Reg v) {
    float lanes[4];
    vst1q_f32(lanes, v);
    for (std::size_t i = 0; i < n; ++i) p[i] = lanes[i];
  }
  static LAYARD_INLINE Reg keep_first(Reg v, std::size_t n) {
    float lanes[4];
    vst1q_f32(lanes, v);
    return load_first(lanes, n);
  }
  static LAYARD_INLINE Reg add(Reg a, Reg b) { return vaddq_f32(a, b); }
  static LAYARD_INLINE Reg sub(Reg a, Reg b) { return vsubq_f32(a, b); }
  static LAYARD_INLINE Reg mul(Reg a, Reg b) { return vmulq_f32(a, b); }
  static LAYARD_INLINE Reg fma(Reg a, Reg b, Reg c) { return vfmaq_f32(c, a, b); }
  static LAYARD_INLINE Reg max(Reg a, Reg b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
  static LAYARD_INLINE Reg min(Reg a, Reg b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
  static LAYARD_INLINE Reg abs(Reg a) { return vabsq_f32(a); }
  static LAYARD_INLINE Reg copysign(Reg size, Reg sign) {
    return vbslq_f32(vdupq_n_u32(0x80000000U), sign, size);
  }
  static LAYARD_INLINE Reg if_less(Reg a, Reg b, Reg yes, Reg no) {
    return vbslq_f32(vcltq_f32(a, b), yes, no);
  }
  static LAYARD_INLINE Reg scale_by_power(Reg x, Reg power) {
    return vreinterpretq_f32_u32(
        vaddq_u32(vreinterpretq_u32_f32(x), vshlq_n_u32(vreinterpretq_u32_f32(power), 23)));
  }
  template <std::size_t kDistance>
  static LAYARD_INLINE Reg swap_lanes(Reg x) {
    if constexpr (kDistance == 2) return vextq_f32(x, x, 2);
    if constexpr (kDistance == 1) return vrev64q_f32(x);
  }
  static LAYARD_INLINE float sum(Reg v) {
    const float32x2_t two = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }
  static LAYARD_INLINE float max_of(Reg v) {
    float lanes[4];
    vst1q_f32(lanes, v);
    float most = lanes[0];
    for (int i = 1; i < 4; ++i) most = most > lanes[i] ? most : lanes[i];
    return most;
  }

  using IntReg = int32x4_t;
  // Signed bytes on both sides: no offset.
  static constexpr int kByteMax = 127;
  static constexpr int kByteOffset = 0;
  static LAYARD_INLINE IntReg load_ints(const void* p) {
    return vreinterpretq_s32_u8(vld1q_u8(static_cast<const std::uint8_t*>(p)));
  }
  static LAYARD_INLINE void store_ints(std::int32_t* p, IntReg v) { vst1q_s32(p, v); }
  static LAYARD_INLINE IntReg repeat_bytes(const void* p) {
    std::int32_t four;
    __builtin_memcpy(&four, p, sizeof(four));
    return vdupq_n_s32(four);
  }
  static LAYARD_INLINE IntReg dot_bytes(IntReg sum, IntReg a, IntReg b) {
    const int8x16_t x = vreinterpretq_s8_s32(a);
    const int8x16_t y = vreinterpretq_s8_s32(b);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(x, y));
    return vaddq_s32(sum, vpaddq_s32(low, high));
  }
  static LAYARD_INLINE Reg to_floats(IntReg v) { return vcvtq_f32_s32(v); }
  static LAYARD_INLINE void store_bytes(std::uint8_t* p, Reg v, int offset) {
    const int32x4_t ints = vaddq_s32(vcvtnq_s32_f32(v), vdupq_n_s32(offset));
    std::int32_t lanes[4];
    vst1q_s32(lanes, ints);
    for (int i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(lanes[i]);
  }

  static LAYARD_INLINE Reg load_float16(const std::uint16_t* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }
  static LAYARD_INLINE Reg load_bfloat16(const std::uint16_t* p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
  }
};

}  // namespace
}  // namespace layard::kernels
