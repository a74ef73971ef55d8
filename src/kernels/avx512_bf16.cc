// AVX-512 with BF16 (and VNNI, which every such processor has): bfloat16 products in pairs, at
// twice the rate of float32.
#if defined(__x86_64__)
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/avx512_intrinsics.h"
#include "kernels/avx512_sizes.h"
#include "kernels/isa_tables.h"
#include "kernels/target.h"

LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma,f16c")
#include "kernels/pairs-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

/// See vec_pairs_emulated-inl.h for what each operation means.
struct Avx512Pairs : Avx512 {
  using PairReg = __m512i;
  static LAYARD_INLINE PairReg load_pairs(const void* p) { return _mm512_loadu_si512(p); }
  static LAYARD_INLINE PairReg repeat_pair(const void* p) {
    std::int32_t pair;
    __builtin_memcpy(&pair, p, sizeof(pair));
    return _mm512_set1_epi32(pair);
  }
  static LAYARD_INLINE Reg dot_pairs(Reg sum, PairReg a, PairReg b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }
  static LAYARD_INLINE void round_row(const float* x, std::byte* out) {
    _mm512_storeu_si512(out,
                        (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x)));
  }
};

struct Avx512PairsTarget : Avx512Sizes {
  using V = Avx512Pairs;
};

constexpr LinearKernels kBFloat16 = pair_kernels<Avx512PairsTarget>("bfloat16 pairs");

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& avx512_bf16_kernels() {
  static const KernelTable kTable = [] {
    KernelTable table = avx512_vnni_kernels();
    table.set(LinearFormat::kBFloat16, kBFloat16);
    return table;
  }();
  return kTable;
}

}  // namespace layard::kernels
#endif
