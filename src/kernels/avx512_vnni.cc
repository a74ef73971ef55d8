// AVX-512 with VNNI: the AVX-512 table with four-byte dot products for int8.
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

#define LAYARD_KERNELS_VNNI
LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c")
#include "kernels/int8-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

struct Avx512VnniTarget {
  using V = Avx512Vnni;
  static constexpr std::size_t kTileRows = 14;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 504;
  static constexpr std::size_t kGroup = 8;
};

constexpr LinearKernels kInt8 = int8_kernels<Avx512VnniTarget>("int8 vnni");

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& avx512_vnni_kernels() {
  static const KernelTable kTable = [] {
    KernelTable table = avx512_kernels();
    table.linear[static_cast<std::size_t>(LinearFormat::kInt8)] = &kInt8;
    return table;
  }();
  return kTable;
}

}  // namespace layard::kernels
#endif
