// NEON, part of every aarch64 processor: 8 x 8 tiles, 16 of 32 registers hold sums. Products in
// bfloat16 and int8 are done by blocks where the processor has the instructions.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/neon_sizes.h"
#include "kernels/table-inl.h"
#include "kernels/vec_neon-inl.h"

namespace layard::kernels {
namespace {

struct NeonTarget : NeonSizes {
  using V = Neon;
};

KernelTable table_with(NeonFeatures features) {
  KernelTable table = make_table<NeonTarget>(Isa::kNeon, "neon");
  if (features.bfloat16) table.set(LinearFormat::kBFloat16, neon_bfloat16_blocks());
  if (features.int8) table.set(LinearFormat::kInt8, neon_int8_blocks());
  return table;
}

}  // namespace

const KernelTable& neon_kernels(NeonFeatures features) {
  static const KernelTable kTables[2][2] = {
      {table_with({}), table_with({.int8 = true})},
      {table_with({.bfloat16 = true}), table_with({.bfloat16 = true, .int8 = true})}};
  return kTables[features.bfloat16 ? 1 : 0][features.int8 ? 1 : 0];
}

}  // namespace layard::kernels
#endif
