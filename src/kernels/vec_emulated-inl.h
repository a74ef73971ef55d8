/// The meaning of every vector operation, as plain loops: the scalar build (4 lanes, product and
/// sum rounded apart) and, in tests, any width with fused products to check indexing and tails of
/// the wide instruction sets on every machine.
#pragma once

#include "kernels/target.h"

// Sanitizers multiply every lane's code; calls keep such builds to seconds instead of minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAYARD_EMULATED __attribute__((noinline)) static
#else
#define LAYARD_EMULATED static
#endif

namespace layard::kernels {
namespace {

template <std::size_t kLanes, bool kFused>
struct Emulated {
  struct Reg {
    float lane[kLanes];
  };
  static constexpr std::size_t kWidth = kLanes;

  LAYARD_EMULATED Reg set1(float x) {
    Reg r;
    for (float& lane : r.lane) lane = x;
    return r;
  }
  LAYARD_EMULATED Reg zero() { return set1(0.0F); }
  LAYARD_EMULATED Reg load(const float* p) { return load_first(p, kLanes); }
  LAYARD_EMULATED void store(float* p, const Reg& v) { store_first(p, kLanes, v); }

  /// The first n lanes from p, the others zero; nothing past p[n - 1] is read.
  LAYARD_EMULATED Reg load_first(const float* p, std::size_t n) {
    Reg r = zero();
    for (std::size_t i = 0; i < n; ++i) r.lane[i] = p[i];
    return r;
  }
  /// Writes the first n lanes only.
  LAYARD_EMULATED void store_first(float* p, std::size_t n, const Reg& v) {
    for (std::size_t i = 0; i < n; ++i) p[i] = v.lane[i];
  }
  /// Lanes from n on become zero.
  LAYARD_EMULATED Reg keep_first(const Reg& v, std::size_t n) { return load_first(v.lane, n); }

  LAYARD_EMULATED Reg add(const Reg& a, const Reg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = a.lane[i] + b.lane[i];
    return r;
  }
  LAYARD_EMULATED Reg sub(const Reg& a, const Reg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = a.lane[i] - b.lane[i];
    return r;
  }
  LAYARD_EMULATED Reg mul(const Reg& a, const Reg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = a.lane[i] * b.lane[i];
    return r;
  }
  /// a * b + c.
  LAYARD_EMULATED Reg fma(const Reg& a, const Reg& b, const Reg& c) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      if constexpr (kFused) {
        r.lane[i] = __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]);
      } else {
        r.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
      }
    }
    return r;
  }
  /// Lane i is lane i ^ kDistance of x; kDistance is a power of two below the width.
  template <std::size_t kDistance>
  LAYARD_EMULATED Reg swap_lanes(const Reg& x) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = x.lane[i ^ kDistance];
    return r;
  }
  /// The second operand where either is NaN.
  LAYARD_EMULATED Reg max(const Reg& a, const Reg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i)
      r.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return r;
  }
  /// The second operand where either is NaN.
  LAYARD_EMULATED Reg min(const Reg& a, const Reg& b) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i)
      r.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return r;
  }
  LAYARD_EMULATED Reg abs(const Reg& a) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = __builtin_fabsf(a.lane[i]);
    return r;
  }
  LAYARD_EMULATED Reg copysign(const Reg& size, const Reg& sign) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      r.lane[i] = __builtin_copysignf(size.lane[i], sign.lane[i]);
    }
    return r;
  }
  /// a < b ? yes : no, lane by lane; false for NaN.
  LAYARD_EMULATED Reg if_less(const Reg& a, const Reg& b, const Reg& yes, const Reg& no) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      r.lane[i] = a.lane[i] < b.lane[i] ? yes.lane[i] : no.lane[i];
    }
    return r;
  }
  /// x * 2^n, where the low bits of `power` are the integer n (1.5 * 2^23 + n as a float).
  LAYARD_EMULATED Reg scale_by_power(const Reg& x, const Reg& power) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      r.lane[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x.lane[i]) +
                                       (std::bit_cast<std::uint32_t>(power.lane[i]) << 23U));
    }
    return r;
  }
  /// Halves are added until one lane is left: the tree of every ISA.
  LAYARD_EMULATED float sum(const Reg& v) {
    Reg r = v;
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) r.lane[i] = r.lane[i] + r.lane[i + half];
    }
    return r.lane[0];
  }
  /// Integers beside the floats: 32-bit sums of 8-bit products.
  struct IntReg {
    std::int32_t lane[kLanes];
  };
  /// Quantised activations are in [-kByteMax, kByteMax] and stored plus kByteOffset.
  static constexpr int kByteMax = 127;
  static constexpr int kByteOffset = 128;

  LAYARD_EMULATED IntReg load_ints(const void* p) {
    IntReg r;
    __builtin_memcpy(r.lane, p, sizeof(r.lane));
    return r;
  }
  LAYARD_EMULATED void store_ints(std::int32_t* p, const IntReg& v) {
    __builtin_memcpy(p, v.lane, sizeof(v.lane));
  }
  /// The same four bytes in every lane.
  LAYARD_EMULATED IntReg repeat_bytes(const void* p) {
    IntReg r;
    for (std::size_t i = 0; i < kLanes; ++i) __builtin_memcpy(&r.lane[i], p, sizeof(r.lane[i]));
    return r;
  }
  /// sum + the four products of unsigned bytes of a with signed bytes of b, lane by lane. Exact for
  /// activations as stated above and weights in [-127, 127].
  LAYARD_EMULATED IntReg dot_bytes(const IntReg& sum, const IntReg& a, const IntReg& b) {
    IntReg r = sum;
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (unsigned byte = 0; byte < 4; ++byte) {
        const auto x = static_cast<std::uint32_t>(a.lane[i]) >> (8U * byte) & 0xFFU;
        const auto w =
            static_cast<std::int8_t>(static_cast<std::uint32_t>(b.lane[i]) >> (8U * byte));
        r.lane[i] += static_cast<std::int32_t>(x) * w;
      }
    }
    return r;
  }
  LAYARD_EMULATED Reg to_floats(const IntReg& v) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = static_cast<float>(v.lane[i]);
    return r;
  }
  /// Rounds to the nearest integers (ties to even), adds `offset`, stores the low bytes.
  LAYARD_EMULATED void store_bytes(std::uint8_t* p, const Reg& v, int offset) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float rounded = (v.lane[i] + 12582912.0F) - 12582912.0F;
      p[i] = rounded == rounded ? static_cast<std::uint8_t>(static_cast<int>(rounded) + offset)
                                : std::uint8_t{0};
    }
  }
  LAYARD_EMULATED float max_of(const Reg& v) {
    float most = v.lane[0];
    for (std::size_t i = 1; i < kLanes; ++i) most = most > v.lane[i] ? most : v.lane[i];
    return most;
  }
  LAYARD_EMULATED Reg load_float16(const std::uint16_t* p) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) r.lane[i] = widen_float16(half_at(p + i));
    return r;
  }
  LAYARD_EMULATED Reg load_bfloat16(const std::uint16_t* p) {
    Reg r;
    for (std::size_t i = 0; i < kLanes; ++i) {
      r.lane[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half_at(p + i)) << 16U);
    }
    return r;
  }

 private:
  /// Also from an odd address.
  static std::uint16_t half_at(const std::uint16_t* p) {
    std::uint16_t bits;
    __builtin_memcpy(&bits, p, sizeof(bits));
    return bits;
  }

  LAYARD_EMULATED float widen_float16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude < 0x0400U) {  // zero and subnormals: multiples of 2^-24
      const float value = static_cast<float>(magnitude) * 0x1p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
    }
    const std::uint32_t exponent_shift = magnitude >= 0x7C00U ? (255U - 31U) : (127U - 15U);
    return std::bit_cast<float>(sign | ((magnitude << 13U) + (exponent_shift << 23U)));
  }
};

}  // namespace
}  // namespace layard::kernels

#undef LAYARD_EMULATED
