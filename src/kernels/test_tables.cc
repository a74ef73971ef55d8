// The emulated tables, compiled once for all tests of the room: they are most of its build time.
#include "kernels/test_tables.h"

#include "kernels/table-inl.h"
#include "kernels/tile_emulated-inl.h"
#include "kernels/tiles-inl.h"
#include "kernels/vec_emulated-inl.h"

namespace layard::kernels {
namespace {

/// The sizes of avx512.cc, with fused sums: bit-equal to it.
struct Emulated512Target {
  using V = Emulated<16, true>;
  static constexpr std::size_t kTileRows = 14;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 504;
  static constexpr std::size_t kGroup = 8;
};
/// Small blocks, so that every loop of the blocking turns at test sizes.
struct EmulatedSmallTarget {
  using V = Emulated<8, true>;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kChunk = 16;
  static constexpr std::size_t kBlockRows = 12;
  static constexpr std::size_t kGroup = 2;
};

struct EmulatedTilesTarget : Emulated512Target {
  using Tiles = EmulatedTiles;
};

}  // namespace

const KernelTable kEmulated512 = make_table<Emulated512Target>(Isa::kScalar, "emulated, 16 lanes");
const KernelTable kEmulatedSmall =
    make_table<EmulatedSmallTarget>(Isa::kScalar, "emulated, small blocks");
const KernelTable kEmulatedTiles =
    make_tile_table<EmulatedTilesTarget>(Isa::kScalar, "emulated, tiles");

}  // namespace layard::kernels
