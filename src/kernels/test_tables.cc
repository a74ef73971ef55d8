// The emulated tables, compiled once for all tests of the room: they are most of its build time.
#include "kernels/test_tables.h"

#include "kernels/avx512_sizes.h"
#include "kernels/neon_block_emulated-inl.h"
#include "kernels/neon_blocks-inl.h"
#include "kernels/neon_sizes.h"
#include "kernels/pairs-inl.h"
#include "kernels/table-inl.h"
#include "kernels/tile_emulated-inl.h"
#include "kernels/tiles-inl.h"
#include "kernels/vec_emulated-inl.h"
#include "kernels/vec_pairs_emulated-inl.h"
#include "kernels/vec_words_emulated-inl.h"
#include "kernels/words-inl.h"

namespace layard::kernels {
namespace {

/// The sizes of avx512.cc, with fused sums: bit-equal to it.
struct Emulated512Target : Avx512Sizes {
  using V = Emulated<16, true>;
};
/// Small blocks, so that every loop of the blocking turns at test sizes.
struct EmulatedSmallTarget {
  using V = Emulated<8, true>;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kChunk = 16;
  static constexpr std::size_t kBlockRows = 12;
  static constexpr std::size_t kGroup = 2;
};

struct EmulatedPairsTarget : Avx512Sizes {
  using V = EmulatedPairs<16>;
};
constexpr LinearKernels kPairs = pair_kernels<EmulatedPairsTarget>("bfloat16 pairs");

struct EmulatedWordsTarget {
  using V = EmulatedWords<8>;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 192;
  static constexpr std::size_t kGroup = 8;
};
constexpr LinearKernels kWords = word_kernels<EmulatedWordsTarget>("int8 in 16-bit pairs");

constexpr KernelTable word_table() {
  KernelTable table = make_table<EmulatedSmallTarget>(Isa::kScalar, "emulated, words");
  table.set(LinearFormat::kInt8, kWords);
  return table;
}

constexpr KernelTable pair_table() {
  KernelTable table = make_table<Emulated512Target>(Isa::kScalar, "emulated, pairs");
  table.set(LinearFormat::kBFloat16, kPairs);
  return table;
}

struct EmulatedTilesTarget : Emulated512Target {
  using Tiles = EmulatedTiles;
};

struct EmulatedNeonTarget : NeonSizes {
  using V = Emulated<4, true>;
};
constexpr LinearKernels kBFloat16Blocks =
    block_kernels<EmulatedNeonTarget, EmulatedBFloat16Block>("bfloat16 blocks");
constexpr LinearKernels kInt8Blocks =
    block_kernels<EmulatedNeonTarget, EmulatedInt8Block>("int8 blocks");

KernelTable with_blocks(KernelTable table) {
  table.name = "emulated, blocks";
  table.set(LinearFormat::kBFloat16, kBFloat16Blocks);
  table.set(LinearFormat::kInt8, kInt8Blocks);
  return table;
}

}  // namespace

const KernelTable kEmulated512 = make_table<Emulated512Target>(Isa::kScalar, "emulated, 16 lanes");
const KernelTable kEmulatedPairs = pair_table();
const KernelTable kEmulatedWords = word_table();
const KernelTable kEmulatedSmall =
    make_table<EmulatedSmallTarget>(Isa::kScalar, "emulated, small blocks");
const KernelTable kEmulatedTiles =
    make_tile_table<EmulatedTilesTarget>(Isa::kScalar, "emulated, tiles");
const KernelTable kEmulatedBlocks = with_blocks(scalar_kernels());

}  // namespace layard::kernels
