// int8 products by SMMLA, for processors that have it.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/neon_sizes.h"
#include "kernels/target.h"

#define LAYARD_KERNELS_SMMLA
LAYARD_TARGET_BEGIN("arch=armv8.2-a+i8mm")
#include "kernels/neon_block-inl.h"
#include "kernels/neon_blocks-inl.h"
#include "kernels/vec_neon-inl.h"

namespace layard::kernels {
namespace {

struct NeonInt8Target : NeonSizes {
  using V = Neon;
};

constexpr LinearKernels kInt8 = block_kernels<NeonInt8Target, NeonInt8Block>("int8 blocks");

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const LinearKernels& neon_int8_blocks() { return kInt8; }

}  // namespace layard::kernels
#endif
