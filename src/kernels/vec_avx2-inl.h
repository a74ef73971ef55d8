/// Eight floats on AVX2, FMA and F16C. See vec_emulated-inl.h for what each operation means.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

struct Avx2 {
  using Reg = __m256;
  static constexpr std::size_t kWidth = 8;

  static LAYARD_INLINE Reg zero() { return _mm256_setzero_ps(); }
  static LAYARD_INLINE Reg set1(float x) { return _mm256_set1_ps(x); }
  static LAYARD_INLINE Reg load(const float* p) { return _mm256_loadu_ps(p); }
  static LAYARD_INLINE void store(float* p, Reg v) { _mm256_storeu_ps(p, v); }
  static LAYARD_INLINE __m256i first(std::size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static LAYARD_INLINE Reg load_first(const float* p, std::size_t n) {
    return _mm256_maskload_ps(p, first(n));
  }
  static LAYARD_INLINE void store_first(float* p, std::size_t n, Reg v) {
    _mm256_maskstore_ps(p, first(n), v);
  }
  static LAYARD_INLINE Reg keep_first(Reg v, std::size_t n) {
    return _mm256_and_ps(v, _mm256_castsi256_ps(first(n)));
  }
  static LAYARD_INLINE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static LAYARD_INLINE Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
  static LAYARD_INLINE Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
  static LAYARD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static LAYARD_INLINE Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
  static LAYARD_INLINE Reg min(Reg a, Reg b) { return _mm256_min_ps(a, b); }
  static LAYARD_INLINE Reg abs(Reg a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a); }
  static LAYARD_INLINE Reg copysign(Reg size, Reg sign) {
    const Reg bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_andnot_ps(bit, size), _mm256_and_ps(bit, sign));
  }
  static LAYARD_INLINE Reg if_less(Reg a, Reg b, Reg yes, Reg no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  static LAYARD_INLINE Reg scale_by_power(Reg x, Reg power) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x),
                                                _mm256_slli_epi32(_mm256_castps_si256(power), 23)));
  }
  template <std::size_t kDistance>
  static LAYARD_INLINE Reg swap_lanes(Reg x) {
    if constexpr (kDistance == 4) return _mm256_permute2f128_ps(x, x, 0x01);
    if constexpr (kDistance == 2) return _mm256_permute_ps(x, 0x4E);
    if constexpr (kDistance == 1) return _mm256_permute_ps(x, 0xB1);
  }
  static LAYARD_INLINE float sum(Reg v) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  static LAYARD_INLINE float max_of(Reg v) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

  using IntReg = __m256i;
  // vpmaddubsw adds two products in 16 bits: 127 * 127 * 2 = 32,258 is the most they may be.
  static constexpr int kByteMax = 63;
  static constexpr int kByteOffset = 64;
  static LAYARD_INLINE IntReg load_ints(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  static LAYARD_INLINE void store_ints(std::int32_t* p, IntReg v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static LAYARD_INLINE IntReg repeat_bytes(const void* p) {
    return _mm256_castps_si256(_mm256_broadcast_ss(static_cast<const float*>(p)));
  }
  static LAYARD_INLINE IntReg dot_bytes(IntReg sum, IntReg a, IntReg b) {
    const __m256i pairs = _mm256_maddubs_epi16(a, b);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static LAYARD_INLINE IntReg dot_words(IntReg sum, IntReg a, IntReg b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  static LAYARD_INLINE void store_words(std::int16_t* p, Reg v) {
    const __m256i ints = _mm256_cvtps_epi32(v);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_packs_epi32(_mm256_castsi256_si128(ints), _mm256_extracti128_si256(ints, 1)));
  }
  static LAYARD_INLINE Reg to_floats(IntReg v) { return _mm256_cvtepi32_ps(v); }
  static LAYARD_INLINE void store_bytes(std::uint8_t* p, Reg v, int offset) {
    const __m256i ints = _mm256_add_epi32(_mm256_cvtps_epi32(v), _mm256_set1_epi32(offset));
    const __m256i low = _mm256_and_si256(ints, _mm256_set1_epi32(0xFF));
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }

  static LAYARD_INLINE Reg load_float16(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static LAYARD_INLINE Reg load_bfloat16(const std::uint16_t* p) {
    const __m256i wide =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
};

}  // namespace
}  // namespace layard::kernels
