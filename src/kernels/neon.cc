// NEON, part of every aarch64 processor: 8 x 8 tiles, 16 of 32 registers hold sums.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/table-inl.h"
#include "kernels/vec_neon-inl.h"

namespace layard::kernels {
namespace {

struct NeonTarget {
  using V = Neon;
  static constexpr std::size_t kTileRows = 8;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 192;
  static constexpr std::size_t kGroup = 8;
};

constexpr KernelTable kTable = make_table<NeonTarget>(Isa::kNeon, "neon");

}  // namespace

const KernelTable& neon_kernels() { return kTable; }

}  // namespace layard::kernels
#endif
