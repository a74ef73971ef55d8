/// The meaning of the operations on pairs of bfloat16, as plain loops over emulated lanes.
#pragma once

#include <bit>

#include "kernels/vec_emulated-inl.h"
#include "kernels/widen-inl.h"

namespace layard::kernels {
namespace {

template <std::size_t kLanes>
struct EmulatedPairs : Emulated<kLanes, true> {
  using Reg = typename Emulated<kLanes, true>::Reg;
  struct PairReg {
    std::uint16_t lane[kLanes][2];
  };

  static PairReg load_pairs(const void* p) {
    PairReg r;
    __builtin_memcpy(&r, p, sizeof(r));
    return r;
  }
  static PairReg repeat_pair(const void* p) {
    PairReg r;
    for (auto& lane : r.lane) __builtin_memcpy(&lane, p, sizeof(lane));
    return r;
  }
  /// sum + the product of the second ones, then + that of the first ones, each fused; numbers below
  /// the normal range count as zero, as factors and as sums. Source: Intel SDM, VDPBF16PS.
  static Reg dot_pairs(const Reg& sum, const PairReg& a, const PairReg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float odd =
          __builtin_fmaf(value(a.lane[i][1]), value(b.lane[i][1]), flushed(sum.lane[i]));
      r.lane[i] = flushed(__builtin_fmaf(value(a.lane[i][0]), value(b.lane[i][0]), flushed(odd)));
    }
    return r;
  }
  /// 32 floats to the nearest bfloat16.
  static void round_row(const float* x, std::byte* out) {
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint16_t bits = round_bfloat16(x[i]);
      __builtin_memcpy(out + i * sizeof(bits), &bits, sizeof(bits));
    }
  }

 private:
  static float value(std::uint16_t bits) {
    return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
  }
  static float flushed(float x) {
    return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0.0F, x) : x;
  }
};

}  // namespace
}  // namespace layard::kernels
