// bfloat16 products by BFMMLA, for processors that have it.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/neon_sizes.h"
#include "kernels/target.h"

#define LAYARD_KERNELS_BFMMLA
LAYARD_TARGET_BEGIN("arch=armv8.2-a+bf16")
#include "kernels/neon_block-inl.h"
#include "kernels/neon_blocks-inl.h"
#include "kernels/vec_neon-inl.h"

namespace layard::kernels {
namespace {

struct NeonBFloat16Target : NeonSizes {
  using V = Neon;
};

constexpr LinearKernels kBFloat16 =
    block_kernels<NeonBFloat16Target, NeonBFloat16Block>("bfloat16 blocks");

}  // namespace
}  // namespace layard::kernels
LAYARD_TARGET_END

namespace layard::kernels {

const LinearKernels& neon_bfloat16_blocks() { return kBFloat16; }

}  // namespace layard::kernels
#endif
