/// Tile registers of Intel AMX. See tile_emulated-inl.h for what each operation means.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

/// Claims the tile registers of this thread while it lives and clears them at the end: a thread
/// that keeps them makes every switch of context save eight kilobytes.
class AmxTiles {
 public:
  AmxTiles() = default;
  ~AmxTiles() {
    if (rows_ > 0) asm volatile("tilerelease");
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  LAYARD_INLINE void configure(std::size_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    const auto first = static_cast<std::uint8_t>(rows < 16 ? rows : 16);
    const auto second = static_cast<std::uint8_t>(rows > 16 ? rows - 16 : 1);
    alignas(64) Config config = {};
    config.palette = 1;
    for (std::uint16_t& bytes : config.row_bytes) bytes = 64;
    const std::uint8_t heights[8] = {first, first, second, second, first, second, 16, 16};
    for (int i = 0; i < 8; ++i) config.rows[i] = heights[i];
    for (int i = 8; i < 16; ++i) config.row_bytes[i] = 0;
    asm volatile("ldtilecfg %0" : : "m"(config));
  }

  template <int kTile>
  LAYARD_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  LAYARD_INLINE void load(const void* p, std::size_t stride) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
  }
  template <int kTile>
  LAYARD_INLINE void load_passing(const void* p, std::size_t stride) {
    asm volatile("tileloaddt1 (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
  }
  template <int kTile>
  LAYARD_INLINE void store(void* p, std::size_t stride) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
  }
  template <int kSum, int kA, int kB>
  LAYARD_INLINE void dot_bfloat16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
  template <int kSum, int kA, int kB>
  LAYARD_INLINE void dot_int8() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }

  static LAYARD_INLINE void split_weights(const std::uint16_t* even, const std::uint16_t* odd,
                                          std::byte* high, std::byte* low) {
    const __m512i a = float16_bits(even);
    const __m512i b = float16_bits(odd);
    const __m512i high_a = rounded(a);
    const __m512i high_b = rounded(b);
    _mm512_storeu_si512(high, pairs(high_a, high_b));
    _mm512_storeu_si512(low, pairs(rest(a, high_a), rest(b, high_b)));
  }
  static LAYARD_INLINE void split_row(const float* x, std::byte* out, std::size_t part_bytes) {
    __m512 a = _mm512_loadu_ps(x);
    __m512 b = _mm512_loadu_ps(x + 16);
    LAYARD_UNROLL
    for (std::size_t part = 0; part < 3; ++part) {
      const auto top = (__m512i)_mm512_cvtne2ps_pbh(b, a);
      _mm512_storeu_si512(out + part * part_bytes, top);
      a = _mm512_sub_ps(a, widened(_mm512_castsi512_si256(top)));
      b = _mm512_sub_ps(b, widened(_mm512_extracti64x4_epi64(top, 1)));
    }
  }
  static LAYARD_INLINE void round_row(const float* x, std::byte* out) {
    _mm512_storeu_si512(out,
                        (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x)));
  }

 private:
  struct Config {
    std::uint8_t palette;
    std::uint8_t start_row;
    std::uint8_t reserved[14];
    std::uint16_t row_bytes[16];
    std::uint8_t rows[16];
  };

  static LAYARD_INLINE __m512i float16_bits(const std::uint16_t* p) {
    return _mm512_castps_si512(
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }
  /// The nearest bfloat16, ties away from zero, as float bits.
  static LAYARD_INLINE __m512i rounded(__m512i x) {
    return _mm512_and_si512(_mm512_add_epi32(x, _mm512_set1_epi32(0x8000)),
                            _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
  }
  static LAYARD_INLINE __m512i rest(__m512i x, __m512i high) {
    return _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(high)));
  }
  /// High halves of `even` in the low halves of the result, those of `odd` above them.
  static LAYARD_INLINE __m512i pairs(__m512i even, __m512i odd) {
    return _mm512_mask_blend_epi16(0xAAAAAAAAU, _mm512_srli_epi32(even, 16), odd);
  }
  static LAYARD_INLINE __m512 widened(__m256i halves) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }

  std::size_t rows_ = 0;
};

}  // namespace
}  // namespace layard::kernels
