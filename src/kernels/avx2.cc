// AVX2, FMA and F16C: 6 x 16 tiles, 12 of 16 registers hold sums.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/target.h"

LAYARD_TARGET_BEGIN("avx2,fma,f16c")
#include "kernels/table-inl.h"
#include "kernels/vec_avx2-inl.h"
#include "kernels/words-inl.h"

namespace layard::kernels {
namespace {

struct Avx2Target {
  using V = Avx2;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 192;
  static constexpr std::size_t kGroup = 8;
};
constexpr LinearKernels kInt8 = word_kernels<Avx2Target>("int8 in 16-bit pairs");

constexpr KernelTable avx2_table() {
  KernelTable table = make_table<Avx2Target>(Isa::kAvx2, "avx2");
  table.set(LinearFormat::kInt8, kInt8);
  return table;
}

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& avx2_kernels() {
  static constexpr KernelTable kTable = avx2_table();
  return kTable;
}

}  // namespace layard::kernels
#endif
