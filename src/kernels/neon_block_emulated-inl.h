/// The meaning of BFMMLA and SMMLA on one 2 x 2 block, as plain loops, in the instructions' bits.
/// Source: Arm Architecture Reference Manual (DDI 0487), BFMMLA and SMMLA.
#pragma once

#include "kernels/vec_emulated-inl.h"
#include "kernels/widen-inl.h"

namespace layard::kernels {
namespace {

/// What both blocks share: two rows (or columns) of `kDepth` elements, and 2 x 2 sums.
template <class Element, class SumType, std::size_t kDepth>
struct EmulatedBlock {
  using Sum = SumType;
  static constexpr std::size_t kStep = kDepth;
  struct Operand {
    Element at[2][kDepth];
  };
  struct Sums {
    Sum at[2][2];
  };

  static Operand operand(const void* p) {
    Operand r;
    __builtin_memcpy(&r, p, sizeof(r));
    return r;
  }
  static Sums zero() { return {}; }
  /// Two blocks side by side: four columns of two rows.
  static void load(const Sum* row0, const Sum* row1, Sums& left, Sums& right) {
    for (std::size_t c = 0; c < 2; ++c) {
      left.at[0][c] = row0[c];
      left.at[1][c] = row1[c];
      right.at[0][c] = row0[2 + c];
      right.at[1][c] = row1[2 + c];
    }
  }
  static void store(const Sums& left, const Sums& right, Sum* row0, Sum* row1) {
    for (std::size_t c = 0; c < 2; ++c) {
      row0[c] = left.at[0][c];
      row1[c] = left.at[1][c];
      row0[2 + c] = right.at[0][c];
      row1[2 + c] = right.at[1][c];
    }
  }
};

/// SMMLA: exact in 32 bits.
struct EmulatedInt8Block : EmulatedBlock<std::int8_t, std::int32_t, 8> {
  static constexpr bool kScaled = true;

  static Sums dot(Sums sum, const Operand& a, const Operand& b) {
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t i = 0; i < kStep; ++i) sum.at[r][c] += a.at[r][i] * b.at[c][i];
      }
    }
    return sum;
  }
};

/// BFMMLA where FPCR.EBF is 0 or not there, as Linux starts every program: the elements of k go in
/// pairs; both products of a pair, their sum, and the sum with the block are each rounded to odd,
/// with denormal numbers taken as zero, before and after. Overflow gives infinity, every NaN is
/// 0x7FC00000.
struct EmulatedBFloat16Block : EmulatedBlock<std::uint16_t, float, 4> {
  static constexpr bool kScaled = false;

  static Sums dot(Sums sum, const Operand& a, const Operand& b) {
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t i = 0; i < kStep; i += 2) {
          const float pair =
              add(multiply(a.at[r][i], b.at[c][i]), multiply(a.at[r][i + 1], b.at[c][i + 1]));
          sum.at[r][c] = add(sum.at[r][c], pair);
        }
      }
    }
    return sum;
  }
  static void round_row(const float* x, std::byte* out) {
    for (std::size_t i = 0; i < kStep; ++i) {
      const std::uint16_t bits = round_bfloat16(x[i]);
      __builtin_memcpy(out + i * sizeof(bits), &bits, sizeof(bits));
    }
  }

 private:
  static constexpr int kExponentMin = -126;  // of a normal float
  static constexpr int kExponentMax = 127;

  /// value + error (at most half a unit of value's last place), rounded to odd.
  static float to_odd(double value, double error) {
    if (value != value) return std::bit_cast<float>(0x7FC00000U);
    auto bits = std::bit_cast<std::uint64_t>(value);
    // In double first: what is exact stays, all else becomes the odd one of its two neighbours.
    if (error != 0 && (error > 0) != (value > 0) && bits % 2 == 0) --bits;
    if (error != 0) bits |= 1U;
    const auto sign = static_cast<std::uint32_t>(bits >> 63U) << 31U;
    const int exponent = static_cast<int>(bits >> 52U & 0x7FFU) - 1023;
    if (exponent > kExponentMax) return std::bit_cast<float>(sign | 0x7F800000U);
    if (exponent < kExponentMin) return std::bit_cast<float>(sign);
    auto fraction = static_cast<std::uint32_t>(bits >> 29U) & 0x7FFFFFU;
    if ((bits & 0x1FFFFFFFU) != 0) fraction |= 1U;
    return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent + 127) << 23U |
                                fraction);
  }
  static float without_denormal(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits & 0x7F800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : x;
  }
  static double value_of(std::uint16_t bits) {
    return without_denormal(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
  }
  static float multiply(std::uint16_t a, std::uint16_t b) {
    return to_odd(value_of(a) * value_of(b), 0);  // 16 bits: exact
  }
  static float add(float a, float b) {
    const double x = without_denormal(a);
    const double y = without_denormal(b);
    const double sum = x + y;
    const double y_part = sum - x;  // Knuth's exact error of a sum
    return to_odd(sum, (x - (sum - y_part)) + (y - y_part));
  }
};

}  // namespace
}  // namespace layard::kernels
