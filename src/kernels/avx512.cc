// AVX-512 F, DQ, VL: 14 x 32 tiles, 28 of 32 registers hold sums.
#if defined(__x86_64__)
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/avx512_intrinsics.h"
#include "kernels/avx512_sizes.h"
#include "kernels/isa_tables.h"
#include "kernels/target.h"

LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c")
#include "kernels/table-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

struct Avx512Target : Avx512Sizes {
  using V = Avx512;
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
