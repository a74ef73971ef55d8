/// Sixteen floats on AVX-512 F, DQ, VL. See vec_emulated-inl.h for what each operation means.
#pragma once

#include "kernels/target.h"

namespace layard::kernels {
namespace {

struct Avx512 {
  using Reg = __m512;
  static constexpr std::size_t kWidth = 16;

  static LAYARD_INLINE Reg zero() { return _mm512_setzero_ps(); }
  static LAYARD_INLINE Reg set1(float x) { return _mm512_set1_ps(x); }
  static LAYARD_INLINE Reg load(const float* p) { return _mm512_loadu_ps(p); }
  static LAYARD_INLINE void store(float* p, Reg v) { _mm512_storeu_ps(p, v); }
  static LAYARD_INLINE __mmask16 first(std::size_t n) {
    return static_cast<__mmask16>((1U << n) - 1U);
  }
  static LAYARD_INLINE Reg load_first(const float* p, std::size_t n) {
    return _mm512_maskz_loadu_ps(first(n), p);
  }
  static LAYARD_INLINE void store_first(float* p, std::size_t n, Reg v) {
    _mm512_mask_storeu_ps(p, first(n), v);
  }
  static LAYARD_INLINE Reg keep_first(Reg v, std::size_t n) {
    return _mm512_maskz_mov_ps(first(n), v);
  }
  static LAYARD_INLINE Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static LAYARD_INLINE Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
  static LAYARD_INLINE Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
  static LAYARD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static LAYARD_INLINE Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
  static LAYARD_INLINE Reg min(Reg a, Reg b) { return _mm512_min_ps(a, b); }
  static LAYARD_INLINE Reg abs(Reg a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0F), a); }
  static LAYARD_INLINE Reg copysign(Reg size, Reg sign) {
    const Reg bit = _mm512_set1_ps(-0.0F);
    return _mm512_or_ps(_mm512_andnot_ps(bit, size), _mm512_and_ps(bit, sign));
  }
  static LAYARD_INLINE Reg if_less(Reg a, Reg b, Reg yes, Reg no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
  }
  static LAYARD_INLINE Reg scale_by_power(Reg x, Reg power) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x),
                                                _mm512_slli_epi32(_mm512_castps_si512(power), 23)));
  }
  template <std::size_t kDistance>
  static LAYARD_INLINE Reg swap_lanes(Reg x) {
    if constexpr (kDistance == 8) return _mm512_shuffle_f32x4(x, x, 0x4E);
    if constexpr (kDistance == 4) return _mm512_shuffle_f32x4(x, x, 0xB1);
    if constexpr (kDistance == 2) return _mm512_permute_ps(x, 0x4E);
    if constexpr (kDistance == 1) return _mm512_permute_ps(x, 0xB1);
  }
  static LAYARD_INLINE float sum(Reg v) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  static LAYARD_INLINE float max_of(Reg v) {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

  using IntReg = __m512i;
  // Without VNNI, as on AVX2: vpmaddubsw adds two products in 16 bits.
  static constexpr int kByteMax = 63;
  static constexpr int kByteOffset = 64;
  static LAYARD_INLINE IntReg load_ints(const void* p) { return _mm512_loadu_si512(p); }
  static LAYARD_INLINE void store_ints(std::int32_t* p, IntReg v) { _mm512_storeu_si512(p, v); }
  static LAYARD_INLINE IntReg repeat_bytes(const void* p) {
    std::int32_t four;
    __builtin_memcpy(&four, p, sizeof(four));
    return _mm512_set1_epi32(four);
  }
  static LAYARD_INLINE IntReg dot_bytes(IntReg sum, IntReg a, IntReg b) {
    const __m512i pairs = _mm512_maddubs_epi16(a, b);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  static LAYARD_INLINE Reg to_floats(IntReg v) { return _mm512_cvtepi32_ps(v); }
  static LAYARD_INLINE void store_bytes(std::uint8_t* p, Reg v, int offset) {
    const __m512i ints = _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(offset));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(ints));
  }

  static LAYARD_INLINE Reg load_float16(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static LAYARD_INLINE Reg load_bfloat16(const std::uint16_t* p) {
    const __m512i wide =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
};

#if defined(LAYARD_KERNELS_VNNI)
/// With VNNI: four products of bytes at a time, summed in 32 bits.
struct Avx512Vnni : Avx512 {
  static constexpr int kByteMax = 127;
  static constexpr int kByteOffset = 128;
  static LAYARD_INLINE IntReg dot_bytes(IntReg sum, IntReg a, IntReg b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }
};
#endif

}  // namespace
}  // namespace layard::kernels
