// AMX tiles for bfloat16 and int8 products, AVX-512 for everything else.
#if defined(__x86_64__)
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/avx512_intrinsics.h"
#include "kernels/avx512_sizes.h"
#include "kernels/isa_tables.h"
#include "kernels/target.h"

#define LAYARD_KERNELS_VNNI
LAYARD_TARGET_BEGIN(
    "avx512f,avx512dq,avx512vl,avx512bw,avx512vnni,avx512bf16,avx2,fma,f16c,amx-tile,amx-bf16,"
    "amx-int8")
#include "kernels/table-inl.h"
#include "kernels/tile_amx-inl.h"
#include "kernels/tiles-inl.h"
#include "kernels/vec_avx512-inl.h"

namespace layard::kernels {
namespace {

struct AmxTarget : Avx512Sizes {
  using V = Avx512Vnni;
  using Tiles = AmxTiles;
};

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const KernelTable& amx_kernels() {
  static constexpr KernelTable kTable = make_tile_table<AmxTarget>(Isa::kAmx, "amx");
  return kTable;
}

}  // namespace layard::kernels
#endif
