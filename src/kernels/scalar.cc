// The portable build: four lanes that any compiler turns into what the base machine has.
#include <bit>
#include <utility>

#include "kernels/isa_tables.h"
#include "kernels/table-inl.h"
#include "kernels/vec_emulated-inl.h"

namespace layard::kernels {
namespace {

struct ScalarTarget {
  using V = Emulated<4, false>;
  static constexpr std::size_t kTileRows = 4;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 96;
  static constexpr std::size_t kGroup = 8;
};

constexpr KernelTable kTable = make_table<ScalarTarget>(Isa::kScalar, "scalar");

}  // namespace

const KernelTable& scalar_kernels() { return kTable; }

}  // namespace layard::kernels
