/// Number formats of products on tile registers: how weights and rows lie, and what one step of k
/// multiplies.
///
/// A panel has 32 columns: two tiles side by side. Rows of A come in blocks of 32: two tiles. The
/// four products of one step of k (32 for bfloat16, 64 for int8) go to four accumulators.
///
/// A unit `U` gives eight tiles: configure(), zero, load, store, the two products, and how 16-bit
/// weights and float rows turn into bfloat16 parts.
#pragma once

#include "kernels/int8-inl.h"

namespace layard::kernels {
namespace {

constexpr std::size_t kTileRowsMax = 16;
constexpr std::size_t kTileRowBytes = 64;
constexpr std::size_t kTileBytes = kTileRowsMax * kTileRowBytes;
constexpr std::size_t kTilePanel = 32;
constexpr std::size_t kTileBlockRows = 2 * kTileRowsMax;

// Tile registers: four accumulators (row block * 2 + column block), two of A, two of B.
constexpr int kA0 = 4;
constexpr int kA1 = 5;
constexpr int kB0 = 6;
constexpr int kB1 = 7;

/// One multiplication of the A and B tiles that are loaded: into all accumulators in use.
template <class U, bool kTwo, bool kInt>
LAYARD_INLINE void multiply_tiles(U& unit) {
  if constexpr (kInt) {
    unit.template dot_int8<0, kA0, kB0>();
    unit.template dot_int8<1, kA0, kB1>();
    if constexpr (kTwo) unit.template dot_int8<2, kA1, kB0>();
    if constexpr (kTwo) unit.template dot_int8<3, kA1, kB1>();
  } else {
    unit.template dot_bfloat16<0, kA0, kB0>();
    unit.template dot_bfloat16<1, kA0, kB1>();
    if constexpr (kTwo) unit.template dot_bfloat16<2, kA1, kB0>();
    if constexpr (kTwo) unit.template dot_bfloat16<3, kA1, kB1>();
  }
}

// Rows of A pass through once per panel: they must not push the panel out of the L1 cache.
template <class U, bool kTwo>
LAYARD_INLINE void load_a(U& unit, const std::byte* a, std::size_t block_bytes) {
  unit.template load_passing<kA0>(a, kTileRowBytes);
  if constexpr (kTwo) unit.template load_passing<kA1>(a + block_bytes, kTileRowBytes);
}

template <class U>
LAYARD_INLINE void load_b(U& unit, const std::byte* b) {
  unit.template load<kB0>(b, kTileRowBytes);
  unit.template load<kB1>(b + kTileBytes, kTileRowBytes);
}

// A Mode says how weights and rows lie and what one step of k multiplies. Prepared rows come in
// blocks of 16: a header of kHeader * 16 bytes, then for each step one tile per part. Panels: a
// header, then steps of kStepBytes; where `kWidens`, each chunk is turned once per block of rows
// into steps of kReadBytes.

/// One product of weights and rows in the tiles' own formats. Panel: steps of two tiles.
template <bool kIntegers, std::size_t kDepth, std::size_t kChunkDepth, std::size_t kHeaderBytes>
struct PlainMode {
  static constexpr std::size_t kStep = kDepth;
  static constexpr std::size_t kChunk = kChunkDepth;  // of a panel: 32 KB, in the L1 cache
  static constexpr std::size_t kStepBytes = 2 * kTileBytes;
  static constexpr std::size_t kReadBytes = kStepBytes;
  static constexpr std::size_t kHeader = kHeaderBytes;
  static constexpr std::size_t kParts = 1;
  static constexpr bool kInt = kIntegers;
  static constexpr bool kWidens = false;

  template <class U, bool kTwo>
  static LAYARD_INLINE void step(U& unit, const std::byte* a, std::size_t block_bytes,
                                 const std::byte* b) {
    load_b(unit, b);
    load_a<U, kTwo>(unit, a, block_bytes);
    multiply_tiles<U, kTwo, kIntegers>(unit);
  }
};

/// bfloat16 weights and activations.
struct BFloat16Mode : PlainMode<false, 32, 512, 0> {};

/// int8 weights and activations, both signed. Panel: a header of 32 scales, then steps.
struct Int8Mode : PlainMode<true, 64, 1024, kRowHeaderBytes> {};

/// The B tiles that are loaded times the first `parts` parts of a step of A.
template <class U, bool kTwo>
LAYARD_INLINE void multiply_parts(U& unit, const std::byte* a, std::size_t block_bytes,
                                  std::size_t parts) {
  for (std::size_t part = 0; part < parts; ++part) {
    load_a<U, kTwo>(unit, a + part * kTileBytes, block_bytes);
    multiply_tiles<U, kTwo, false>(unit);
  }
}

/// bfloat16 weights that are exact, activations in three parts, which hold all 24 bits of a float:
/// three products.
struct SplitRowsMode : BFloat16Mode {
  static constexpr std::size_t kParts = 3;

  template <class U, bool kTwo>
  static LAYARD_INLINE void step(U& unit, const std::byte* a, std::size_t block_bytes,
                                 const std::byte* b) {
    load_b(unit, b);
    multiply_parts<U, kTwo>(unit, a, block_bytes, kParts);
  }
};

/// float16 weights, which are exactly a high and a low bfloat16, times activations in three parts:
/// five products (the sixth, low * low, is under 2^-26 of the result). Two parts and three products
/// were tried: logits then differ by up to 9.5e-5 on the goldens, whose tolerance is 1e-4. Panel:
/// [k][32] float16; each chunk is split once for all rows of the block, into steps of four tiles:
/// high, high, low, low.
struct SplitMode : SplitRowsMode {
  static constexpr std::size_t kChunk = 128;  // as tiles: 16 KB, so that two share the L1 cache
  static constexpr std::size_t kReadBytes = 4 * kTileBytes;
  static constexpr bool kWidens = true;
  static_assert(kStepBytes == kStep * kTilePanel * sizeof(std::uint16_t));

  template <class U, bool kTwo>
  static LAYARD_INLINE void step(U& unit, const std::byte* a, std::size_t block_bytes,
                                 const std::byte* b) {
    load_b(unit, b);
    multiply_parts<U, kTwo>(unit, a, block_bytes, kParts);
    load_b(unit, b + 2 * kTileBytes);
    multiply_parts<U, kTwo>(unit, a, block_bytes, kParts - 1);
  }

  /// Splits a unit (of eight: four pairs of k for both tiles) of one stored step into its parts.
  template <class U>
  static LAYARD_INLINE void widen_unit(const std::byte* stored, std::size_t unit,
                                       std::byte* tiles) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(stored) + unit * 4 * kTilePanel;
    std::byte* high = tiles + unit * 2 * kTileRowBytes;
    LAYARD_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint16_t* even = halves + i / 2 * 2 * kTilePanel + i % 2 * 16;
      std::byte* out = high + i / 2 * kTileRowBytes + i % 2 * kTileBytes;
      U::split_weights(even, even + kTilePanel, out, out + 2 * kTileBytes);
    }
    for (std::size_t line = 0; line < 4; ++line) {
      __builtin_prefetch(stored + kFetchAhead + unit * 256 + line * 64, 0, 2);
    }
  }

 private:
  static constexpr std::size_t kFetchAhead = 4096;  // two steps
};

template <class M>
constexpr std::size_t panel_header() {
  return M::kInt ? kTilePanel * sizeof(float) : 0;
}
template <class M>
std::size_t tile_panel_bytes(std::size_t k) {
  return panel_header<M>() + (k + M::kStep - 1) / M::kStep * M::kStepBytes;
}
/// Bytes of a block of 16 prepared rows.
template <class M>
LAYARD_INLINE std::size_t row_block_bytes(std::size_t k) {
  return kTileRowsMax * M::kHeader + (k + M::kStep - 1) / M::kStep * M::kParts * kTileBytes;
}
/// A gemm call may read a second block beside the last one, hence whole pairs of blocks.
template <class M>
std::size_t tile_operand_bytes(std::size_t rows, std::size_t k) {
  return round_up(rows, kTileBlockRows) / kTileRowsMax * row_block_bytes<M>(k);
}

}  // namespace
}  // namespace layard::kernels
