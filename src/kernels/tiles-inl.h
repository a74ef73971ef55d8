/// Matrix products on tile registers (Intel AMX), or their emulation.
///
/// Accumulators stay in tile registers over one chunk of k and rest in scratch between chunks. The
/// order of sums for one output depends only on k: per step of k the tile's own order, steps
/// ascending, and within a step the parts in the order of their Mode.
#pragma once

#include "kernels/tile_pack-inl.h"

namespace layard::kernels {
namespace {

/// The next piece of a panel, widened a few rows of tiles at a time while the tile unit works on
/// the piece before it: the processor does both at once, and memory is read evenly.
template <class U, class M>
class Widening {
 public:
  /// Starts on `steps` steps at `stored`. Nothing to do when the mode does not widen.
  LAYARD_INLINE void start(const std::byte* stored, std::size_t steps, std::byte* tiles) {
    stored_ = stored;
    tiles_ = tiles;
    next_ = 0;
    end_ = M::kWidens ? steps * kUnitsPerStep : 0;
  }
  /// The next `units` units (of four rows of a tile), or what is left of them.
  LAYARD_INLINE void advance(std::size_t units) {
    if constexpr (M::kWidens) {
      const std::size_t stop = next_ + units < end_ ? next_ + units : end_;
      for (; next_ < stop; ++next_) {
        const std::size_t step = next_ / kUnitsPerStep;
        M::template widen_unit<U>(stored_ + step * M::kStepBytes, next_ % kUnitsPerStep,
                                  tiles_ + step * M::kReadBytes);
      }
    }
  }
  LAYARD_INLINE void finish() { advance(end_ - next_); }
  LAYARD_INLINE std::size_t left() const { return end_ - next_; }

 private:
  static constexpr std::size_t kUnitsPerStep = 8;
  const std::byte* stored_ = nullptr;
  std::byte* tiles_ = nullptr;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
};

/// Products of one Mode over a block of rows and a group of panels. Pieces (a chunk of k of one
/// panel) follow each other: chunks outermost, then panels. While the tile unit works on a piece,
/// the next one is widened and the tile before is finished (bias, activation, residual).
template <class T, class M>
class TiledProduct {
 public:
  using V = typename T::V;
  using Unit = typename T::Tiles;
  using Sum = std::conditional_t<M::kInt, std::int32_t, float>;
  static constexpr std::size_t kPanel = kTilePanel;
  static constexpr std::size_t kBlockRows = 256;
  static constexpr std::size_t kGroup = 8;
  static constexpr std::size_t kSumsBytes = kBlockRows * kGroup * kPanel * sizeof(Sum);
  static constexpr std::size_t kPieceBytes = M::kWidens ? M::kChunk / M::kStep * M::kReadBytes : 0;

  TiledProduct(const GemmArgs& args, std::byte* scratch)
      : args_(args),
        k_(args.w.k),
        panel_bytes_(tile_panel_bytes<M>(args.w.k)),
        block_bytes_(row_block_bytes<M>(args.w.k)),
        sums_(reinterpret_cast<Sum*>(scratch)),
        pieces_{scratch + kSumsBytes, scratch + kSumsBytes + kPieceBytes} {}
  TiledProduct(const TiledProduct&) = delete;
  TiledProduct& operator=(const TiledProduct&) = delete;

  void block(IndexRange rows, IndexRange panels) {
    const std::size_t chunks = (k_ + M::kChunk - 1) / M::kChunk;
    const std::size_t count = panels.end - panels.begin;
    // Rows that stay in the L2 cache allow one panel after the other, as they lie in memory.
    const bool by_panel =
        (rows.end - rows.begin) * (block_bytes_ / kTileRowsMax) <= kRowsCachedBytes;
    const auto place = [&](std::size_t i) {
      return by_panel ? Place{i / chunks, i % chunks} : Place{i % count, i / count};
    };
    widening_.start(stored(panels.begin, 0), chunk_steps(0), pieces_[0]);
    widening_.finish();
    for (std::size_t i = 0; i < chunks * count; ++i) {
      if (i + 1 < chunks * count) {
        const Place next = place(i + 1);
        widening_.start(stored(panels.begin + next.panel, next.chunk), chunk_steps(next.chunk),
                        pieces_[(i + 1) % 2]);
      }
      const Place now = place(i);
      const std::size_t slot =
          by_panel ? now.panel % 2 : now.panel;  // the last panel may be pending
      piece(rows, now.chunk, panels.begin + now.panel, sums_ + slot * kBlockRows * kPanel,
            pieces_[i % 2]);
      widening_.finish();
    }
    finish_pending(kTileBlockRows);
  }

 private:
  static constexpr std::size_t kSumStride = kPanel * sizeof(Sum);
  static constexpr std::size_t kRowsCachedBytes = 1U << 20U;

  /// A piece: a panel of the group and a chunk of k.
  struct Place {
    std::size_t panel;
    std::size_t chunk;
  };

  /// A tile whose sums are complete: rows [done, height) of it are not in C yet.
  struct Pending {
    std::size_t row = 0;
    std::size_t height = 0;
    std::size_t done = 0;
    std::size_t panel = 0;
    const Sum* sums = nullptr;
  };

  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t chunk) const {
    return args_.w.panels + p * panel_bytes_ + panel_header<M>() +
           chunk * (M::kChunk / M::kStep) * M::kStepBytes;
  }
  LAYARD_INLINE std::size_t chunk_steps(std::size_t chunk) const {
    const std::size_t left = k_ - chunk * M::kChunk;
    return ((left < M::kChunk ? left : M::kChunk) + M::kStep - 1) / M::kStep;
  }
  /// The block of 16 prepared rows that starts with `row`.
  LAYARD_INLINE const std::byte* rows_at(std::size_t row) const {
    return args_.a + row / kTileRowsMax * block_bytes_;
  }

  /// All rows of the block times one piece.
  void piece(IndexRange rows, std::size_t chunk, std::size_t panel, Sum* sums,
             const std::byte* widened) {
    const std::size_t steps = chunk_steps(chunk);
    const std::byte* b = M::kWidens ? widened : stored(panel, chunk);
    const bool last = (chunk + 1) * M::kChunk >= k_;
    const std::size_t tiles = (rows.end - rows.begin + kTileBlockRows - 1) / kTileBlockRows;
    const std::size_t widen_units = (widening_.left() + tiles * steps - 1) / (tiles * steps);
    for (std::size_t row = rows.begin; row < rows.end; row += kTileBlockRows) {
      const std::size_t left = rows.end - row;
      const std::size_t height = left < kTileBlockRows ? left : kTileBlockRows;
      const std::byte* a = rows_at(row) + kTileRowsMax * M::kHeader +
                           chunk * (M::kChunk / M::kStep) * M::kParts * kTileBytes;
      unit_.configure(height);
      if (height > kTileRowsMax) {
        run<true>({a, b, steps, chunk > 0, widen_units}, sums);
      } else {
        run<false>({a, b, steps, chunk > 0, widen_units}, sums);
      }
      finish_pending(kTileBlockRows);
      if (last) pending_ = {row, height, 0, panel, sums};
      sums += height * kPanel;
    }
  }

  struct Run {
    const std::byte* a;
    const std::byte* b;
    std::size_t steps;
    bool accumulate;
    std::size_t widen_units;  ///< of the next piece, with every step
  };

  template <bool kTwo>
  LAYARD_INLINE void run(Run run, Sum* sums) {
    if (run.accumulate) {
      unit_.template load<0>(sums, kSumStride);
      unit_.template load<1>(sums + 16, kSumStride);
      if constexpr (kTwo) unit_.template load<2>(sums + 16 * kPanel, kSumStride);
      if constexpr (kTwo) unit_.template load<3>(sums + 16 * kPanel + 16, kSumStride);
    } else {
      unit_.template zero<0>();
      unit_.template zero<1>();
      if constexpr (kTwo) unit_.template zero<2>();
      if constexpr (kTwo) unit_.template zero<3>();
    }
    const std::size_t finish_rows = (pending_.height + run.steps - 1) / run.steps;
    for (std::size_t s = 0; s < run.steps; ++s) {
      M::template step<Unit, kTwo>(unit_, run.a, block_bytes_, run.b);
      widening_.advance(run.widen_units);
      finish_pending(finish_rows);
      run.a += M::kParts * kTileBytes;
      run.b += M::kReadBytes;
    }
    unit_.template store<0>(sums, kSumStride);
    unit_.template store<1>(sums + 16, kSumStride);
    if constexpr (kTwo) unit_.template store<2>(sums + 16 * kPanel, kSumStride);
    if constexpr (kTwo) unit_.template store<3>(sums + 16 * kPanel + 16, kSumStride);
  }

  /// The next rows of the pending tile, at most `rows`, into C.
  LAYARD_INLINE void finish_pending(std::size_t rows) {
    const std::size_t left = pending_.height - pending_.done;
    if (left == 0) return;
    const std::size_t count = left < rows ? left : rows;
    finish_rows(pending_.done, count);
    pending_.done += count;
  }

  LAYARD_INLINE void finish_rows(std::size_t first, std::size_t count) const {
    const std::size_t row = pending_.row + first;
    const Sum* sums = pending_.sums + first * kPanel;
    if constexpr (M::kInt) {
      const auto* scales =
          reinterpret_cast<const float*>(args_.w.panels + pending_.panel * panel_bytes_);
      const std::size_t in_block = kTileRowsMax - row % kTileRowsMax;
      const std::size_t here = count < in_block ? count : in_block;
      const std::byte* header = rows_at(row) + row % kTileRowsMax * M::kHeader;
      finish_tile<T>(args_, row, here, pending_.panel,
                     ScaledSums<V>{sums, kPanel, header, M::kHeader, scales});
      if (here == count) return;
      finish_tile<T>(
          args_, row + here, count - here, pending_.panel,
          ScaledSums<V>{sums + here * kPanel, kPanel, rows_at(row + here), M::kHeader, scales});
    } else {
      finish_tile<T>(args_, row, count, pending_.panel, FloatSums<V>{sums, kPanel});
    }
  }

  const GemmArgs& args_;
  std::size_t k_;
  std::size_t panel_bytes_;
  std::size_t block_bytes_;
  Sum* sums_;
  std::byte* pieces_[2];
  Widening<Unit, M> widening_;
  Pending pending_;
  Unit unit_;
};

template <class T, class M>
void tiled_gemm(const GemmArgs& args, IndexRange rows, IndexRange panels, std::byte* scratch) {
  if (args.w.k == 0) return;
  TiledProduct<T, M> product(args, scratch);
  each_block<TiledProduct<T, M>>(rows, panels, [&](IndexRange block_rows, IndexRange group) {
    product.block(block_rows, group);
  });
}

template <class T, class M>
std::size_t tiled_scratch_bytes(std::size_t) {
  return TiledProduct<T, M>::kSumsBytes + 2 * TiledProduct<T, M>::kPieceBytes;
}

template <class T, class M>
constexpr LinearKernels tile_kernels(std::string_view name,
                                     decltype(LinearKernels::pack_panel) pack_panel,
                                     decltype(LinearKernels::prepare) prepare) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = kTilePanel;
  linear.panels_per_call = 8;
  linear.row_step = kTileBlockRows;
  linear.panel_bytes = &tile_panel_bytes<M>;
  linear.pack_panel = pack_panel;
  linear.operand_bytes = &tile_operand_bytes<M>;
  linear.prepare = prepare;
  linear.scratch_bytes = &tiled_scratch_bytes<T, M>;
  linear.gemm = &tiled_gemm<T, M>;
  return linear;
}

/// The formats of a target with tiles.
template <class T>
struct TileFormats {
  using V = typename T::V;
  using Unit = typename T::Tiles;
  static constexpr LinearKernels kSplit = tile_kernels<T, SplitMode>(
      "split bfloat16 tiles", &pack_split_panel<T>, &prepare_bfloat16_row<Unit, SplitMode>);
  static constexpr LinearKernels kSplitRows =
      tile_kernels<T, SplitRowsMode>("bfloat16 tiles, split rows", &pack_bfloat16_tiles<V>,
                                     &prepare_bfloat16_row<Unit, SplitRowsMode>);
  static constexpr LinearKernels kBFloat16 = tile_kernels<T, BFloat16Mode>(
      "bfloat16 tiles", &pack_bfloat16_tiles<V>, &prepare_bfloat16_row<Unit, BFloat16Mode>);
  static constexpr LinearKernels kInt8 =
      tile_kernels<T, Int8Mode>("int8 tiles", &pack_int8_tiles<V>, &prepare_tile_int8_row<V>);
};

/// make_table with the linear formats on tiles; float32 weights stay on vectors.
template <class T>
constexpr KernelTable make_tile_table(Isa isa, std::string_view name) {
  KernelTable table = make_table<T>(isa, name);
  table.set(LinearFormat::kFloat16Weights, TileFormats<T>::kSplit);
  table.set(LinearFormat::kBFloat16Weights, TileFormats<T>::kSplitRows);
  table.set(LinearFormat::kBFloat16, TileFormats<T>::kBFloat16);
  table.set(LinearFormat::kInt8, TileFormats<T>::kInt8);
  return table;
}

}  // namespace
}  // namespace layard::kernels
