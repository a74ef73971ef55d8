/// The meaning of every tile operation, as plain loops: eight tiles of 16 rows of 64 bytes.
#pragma once

#include "kernels/vec_emulated-inl.h"
#include "kernels/widen-inl.h"

namespace layard::kernels {
namespace {

class EmulatedTiles {
 public:
  /// `rows` of a block of 32: tiles 0, 1, 4 have the first 16, tiles 2, 3, 5 the rest; 6 and 7 are
  /// whole. Clears every tile when the count changes.
  void configure(std::size_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    for (Tile& tile : tiles_) tile = {};
  }

  template <int kTile>
  void zero() {
    tiles_[kTile] = {};
  }
  /// Row r from p + r * stride; rows beyond the configured height are not read.
  template <int kTile>
  void load(const void* p, std::size_t stride) {
    for (std::size_t r = 0; r < height(kTile); ++r) {
      __builtin_memcpy(tiles_[kTile].bytes[r], static_cast<const std::byte*>(p) + r * stride, 64);
    }
  }
  /// The same, for memory that is not worth a place in the first cache.
  template <int kTile>
  void load_passing(const void* p, std::size_t stride) {
    load<kTile>(p, stride);
  }
  template <int kTile>
  void store(void* p, std::size_t stride) {
    for (std::size_t r = 0; r < height(kTile); ++r) {
      __builtin_memcpy(static_cast<std::byte*>(p) + r * stride, tiles_[kTile].bytes[r], 64);
    }
  }

  /// sum[m][n] += the even and the odd products of 16 pairs, each a chain of fused sums from zero,
  /// then added. Source: Intel SDM, TDPBF16PS.
  template <int kSum, int kA, int kB>
  void dot_bfloat16() {
    for (std::size_t m = 0; m < height(kSum); ++m) {
      for (std::size_t n = 0; n < 16; ++n) {
        float even = 0;
        float odd = 0;
        for (std::size_t k = 0; k < 16; ++k) {
          even = __builtin_fmaf(half(kA, m, 2 * k), half(kB, k, 2 * n), even);
          odd = __builtin_fmaf(half(kA, m, 2 * k + 1), half(kB, k, 2 * n + 1), odd);
        }
        float sum;
        __builtin_memcpy(&sum, &tiles_[kSum].bytes[m][4 * n], sizeof(sum));
        sum += even + odd;
        __builtin_memcpy(&tiles_[kSum].bytes[m][4 * n], &sum, sizeof(sum));
      }
    }
  }
  /// sum[m][n] += 64 products of signed bytes, exact in 32 bits.
  template <int kSum, int kA, int kB>
  void dot_int8() {
    for (std::size_t m = 0; m < height(kSum); ++m) {
      for (std::size_t n = 0; n < 16; ++n) {
        std::int32_t sum;
        __builtin_memcpy(&sum, &tiles_[kSum].bytes[m][4 * n], sizeof(sum));
        for (std::size_t k = 0; k < 64; ++k) {
          sum += static_cast<std::int8_t>(tiles_[kA].bytes[m][k]) *
                 static_cast<std::int8_t>(tiles_[kB].bytes[k / 4][4 * n + k % 4]);
        }
        __builtin_memcpy(&tiles_[kSum].bytes[m][4 * n], &sum, sizeof(sum));
      }
    }
  }

  /// 16 float16 of each: `even` elements in even places, `odd` in odd ones; high + low is the
  /// weight exactly.
  static void split_weights(const std::uint16_t* even, const std::uint16_t* odd, std::byte* high,
                            std::byte* low) {
    for (std::size_t i = 0; i < 32; ++i) {
      float x;
      widen<Emulated<1, true>>(i % 2 == 0 ? even + i / 2 : odd + i / 2, ElementType::kFloat16, 1,
                               &x);
      std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
      bits = (bits + 0x8000U) & 0xFFFF0000U;
      put(high, i, static_cast<std::uint16_t>(bits >> 16U));
      put(low, i, round_bfloat16(x - std::bit_cast<float>(bits)));
    }
  }
  /// 32 floats in three parts, `part_bytes` apart: each the nearest bfloat16 to what is left.
  static void split_row(const float* x, std::byte* out, std::size_t part_bytes) {
    for (std::size_t i = 0; i < 32; ++i) {
      float rest = x[i];
      for (std::size_t part = 0; part < 3; ++part) {
        const std::uint16_t top = round_bfloat16(rest);
        put(out + part * part_bytes, i, top);
        rest -= value_of(top);
      }
    }
  }
  static void round_row(const float* x, std::byte* out) {
    for (std::size_t i = 0; i < 32; ++i) put(out, i, round_bfloat16(x[i]));
  }

 private:
  struct Tile {
    std::uint8_t bytes[16][64];
  };

  static float value_of(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
  static void put(std::byte* out, std::size_t index, std::uint16_t bits) {
    __builtin_memcpy(out + 2 * index, &bits, sizeof(bits));
  }
  std::size_t height(int tile) const {
    if (tile >= 6) return 16;
    const bool second = tile == 2 || tile == 3 || tile == 5;
    if (second) return rows_ > 16 ? rows_ - 16 : 1;
    return rows_ < 16 ? rows_ : 16;
  }
  float half(int tile, std::size_t row, std::size_t column) const {
    std::uint16_t bits;
    __builtin_memcpy(&bits, &tiles_[tile].bytes[row][2 * column], sizeof(bits));
    return value_of(bits);
  }

  Tile tiles_[8] = {};
  std::size_t rows_ = 0;
};

}  // namespace
}  // namespace layard::kernels
