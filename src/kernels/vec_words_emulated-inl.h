/// The meaning of the operations on 16-bit integers, as plain loops over emulated lanes.
#pragma once

#include "kernels/vec_emulated-inl.h"

namespace layard::kernels {
namespace {

template <std::size_t kLanes>
struct EmulatedWords : Emulated<kLanes, true> {
  using Reg = typename Emulated<kLanes, true>::Reg;
  using IntReg = typename Emulated<kLanes, true>::IntReg;

  /// sum + the two products of 16-bit integers, lane by lane. Exact for factors whose two products
  /// add up to less than 2^31.
  static IntReg dot_words(const IntReg& sum, const IntReg& a, const IntReg& b) {
    IntReg r = sum;
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (unsigned half = 0; half < 2; ++half) {
        r.lane[i] += std::int32_t{word(a.lane[i], half)} * word(b.lane[i], half);
      }
    }
    return r;
  }
  /// The nearest integers (ties to even). REQUIRES: within 16 bits, or NaN, which is stored as any.
  static void store_words(std::int16_t* p, const Reg& v) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float rounded = (v.lane[i] + 12582912.0F) - 12582912.0F;
      p[i] = rounded == rounded ? static_cast<std::int16_t>(static_cast<int>(rounded))
                                : std::int16_t{0};
    }
  }

 private:
  static std::int16_t word(std::int32_t lane, unsigned half) {
    return static_cast<std::int16_t>(static_cast<std::uint32_t>(lane) >> (16U * half));
  }
};

}  // namespace
}  // namespace layard::kernels
