// AVX-512 F, DQ, VL: 14 x 32 tiles, 28 of 32 registers hold sums.
#if defined(__x86_64__)
// g++ 12's AVX-512 header reads its own deliberately undefined registers (GCC PR 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/target.h"

LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c")
#include "kernels/table-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

struct Avx512Target {
  using V = Avx512;
  static constexpr std::size_t kTileRows = 14;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 504;
  static constexpr std::size_t kGroup = 8;
};

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& avx512_kernels() {
  static constexpr KernelTable kTable = make_table<Avx512Target>(Isa::kAvx512, "avx512");
  return kTable;
}

}  // namespace layard::kernels
#endif
