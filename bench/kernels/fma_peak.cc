#include "kernels/fma_peak.h"

#include <cstdint>
#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12's AVX-512 header (GCC PR 105593)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels/target.h"

#if defined(__x86_64__)
LAYARD_TARGET_BEGIN("avx2,fma,f16c")
#include "kernels/vec_avx2-inl.h"
LAYARD_TARGET_END
LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c")
#include "kernels/vec_avx512-inl.h"
LAYARD_TARGET_END
#elif defined(__aarch64__)
#include "kernels/vec_neon-inl.h"
#endif

namespace layard::bench {
namespace {

constexpr std::size_t kAccumulators = 12;  // with two operands: fits 16 registers

// The sums depend on each other only along their own chain; asm keeps the compiler from folding.
#define LAYARD_FMA_LOOP(V, constraint)                                             \
  V::Reg sum[kAccumulators];                                                       \
  LAYARD_UNROLL                                                                    \
  for (std::size_t i = 0; i < kAccumulators; ++i) {                                \
    sum[i] = V::set1(1.0F);                                                        \
    asm volatile("" : "+" constraint(sum[i])); /* else equal chains become one */  \
  }                                                                                \
  V::Reg a = V::set1(0.999F);                                                      \
  V::Reg b = V::set1(0.001F);                                                      \
  asm volatile("" : "+" constraint(a), "+" constraint(b));                         \
  for (long round = 0; round < rounds; ++round) {                                  \
    LAYARD_UNROLL                                                                  \
    for (std::size_t i = 0; i < kAccumulators; ++i) sum[i] = V::fma(sum[i], a, b); \
  }                                                                                \
  LAYARD_UNROLL                                                                    \
  for (std::size_t i = 0; i < kAccumulators; ++i) asm volatile("" : : constraint(sum[i]))

#if defined(__x86_64__)
LAYARD_TARGET_BEGIN("avx2,fma,f16c")
void run_avx2(long rounds) { LAYARD_FMA_LOOP(kernels::Avx2, "x"); }
LAYARD_TARGET_END
LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c")
void run_avx512(long rounds) { LAYARD_FMA_LOOP(kernels::Avx512, "v"); }
LAYARD_TARGET_END
// Products and sums apart, as in the scalar build: four lanes of the base instruction set.
void run_scalar(long rounds) {
  __m128 sum[kAccumulators];
  for (__m128& s : sum) {
    s = _mm_set1_ps(1.0F);
    asm volatile("" : "+x"(s));
  }
  __m128 a = _mm_set1_ps(0.999F);
  __m128 b = _mm_set1_ps(0.001F);
  asm volatile("" : "+x"(a), "+x"(b));
  for (long round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kAccumulators; ++i) sum[i] = _mm_add_ps(_mm_mul_ps(sum[i], a), b);
  }
  for (__m128& s : sum) asm volatile("" : : "x"(s));
}
#elif defined(__aarch64__)
void run_neon(long rounds) { LAYARD_FMA_LOOP(kernels::Neon, "w"); }
#endif

}  // namespace

double run_fma(kernels::Isa isa, long rounds) {
  const auto count = static_cast<double>(rounds) * 2.0;
  switch (isa) {
#if defined(__x86_64__)
    case kernels::Isa::kAmx:  // its float32 work is done by vectors
    case kernels::Isa::kAvx512:
      run_avx512(rounds);
      return count * kAccumulators * 16;
    case kernels::Isa::kAvx2:
      run_avx2(rounds);
      return count * kAccumulators * 8;
    default:
      run_scalar(rounds);
      return count * kAccumulators * 4;
#elif defined(__aarch64__)
    default:
      run_neon(rounds);
      return count * kAccumulators * 4;
#endif
  }
}

}  // namespace layard::bench
