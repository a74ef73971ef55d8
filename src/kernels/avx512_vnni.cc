// AVX-512 with VNNI: the AVX-512 table with four-byte dot products for int8.
#if defined(__x86_64__)
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/avx512_intrinsics.h"
#include "kernels/avx512_sizes.h"
#include "kernels/isa_tables.h"
#include "kernels/target.h"

#define LAYARD_KERNELS_VNNI
LAYARD_TARGET_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c")
#include "kernels/int8-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

struct Avx512VnniTarget : Avx512Sizes {
  using V = Avx512Vnni;
};

constexpr LinearKernels kInt8 = int8_kernels<Avx512VnniTarget>("int8 vnni");

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& avx512_vnni_kernels() {
  static const KernelTable kTable = [] {
    KernelTable table = avx512_kernels();
    table.set(LinearFormat::kInt8, kInt8);
    return table;
  }();
  return kTable;
}

}  // namespace layard::kernels
#endif
