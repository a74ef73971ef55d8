/// The packed-panel matrix product.
///
/// Loops, outermost first: blocks of rows (kBlockRows), groups of panels (kGroup), chunks of k
/// (kChunk), panels, tiles of rows. One tile keeps kTileRows x 2 vectors in registers over one
/// chunk; between chunks its sums rest in scratch as floats, which loses nothing, so each output
/// is one chain of fused sums in ascending k whatever the blocking. A chunk of a panel (kChunk x
/// panel) stays in the L1 cache for all tiles of the block; the block's rows of A stay in L2.
///
/// A Target names the vector type and these sizes.
#pragma once

#include "kernels/math-inl.h"

namespace layard::kernels {
namespace {

/// Vectors per panel row, for every target: a gated panel is one of each half.
constexpr std::size_t kPanelVectors = 2;

template <class T>
constexpr std::size_t panel_width() {
  return kPanelVectors * T::V::kWidth;
}

/// One step of k: sums += column of A (rows at base) * row of the panel (at b).
template <class T, std::size_t kRows, std::size_t kBases>
LAYARD_INLINE void tile_step(const float* const (&base)[kBases], std::size_t lda, std::size_t at,
                             const float* b, typename T::V::Reg (&sum)[kRows][kPanelVectors]) {
  using V = typename T::V;
  const typename V::Reg b0 = V::load(b + at * panel_width<T>());
  const typename V::Reg b1 = V::load(b + at * panel_width<T>() + V::kWidth);
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    const typename V::Reg x = V::set1(base[r / 3][(r % 3) * lda + at]);
    sum[r][0] = V::fma(x, b0, sum[r][0]);
    sum[r][1] = V::fma(x, b1, sum[r][1]);
  }
}

/// tile[r][c] (+)= sum over k of a[r][k] * b[k][c], for kRows rows and one panel. Memory at `ahead`
/// is fetched into the cache on the way (never read: any address will do).
template <class T, std::size_t kRows>
__attribute__((noinline)) void tile_product(const float* a, std::size_t lda, const float* b,
                                            std::size_t k, float* tile, std::size_t ld_tile,
                                            bool accumulate, const float* ahead) {
  using V = typename T::V;
  constexpr std::size_t kBases = (kRows + 2) / 3;  // each base reaches three rows by scaled index
  constexpr std::size_t kSteps = 4;
  typename V::Reg sum[kRows][kPanelVectors];
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      sum[r][v] = accumulate ? V::load(tile + r * ld_tile + v * V::kWidth) : V::zero();
    }
  }
  const float* base[kBases];
  LAYARD_UNROLL
  for (std::size_t g = 0; g < kBases; ++g) base[g] = a + 3 * g * lda;
  std::size_t i = 0;
  for (; i + kSteps <= k; i += kSteps) {
    LAYARD_UNROLL
    for (std::size_t u = 0; u < kSteps; ++u) tile_step<T>(base, lda, u, b, sum);
    LAYARD_UNROLL
    for (std::size_t u = 0; u < kSteps; ++u) {  // kSteps cache lines
      __builtin_prefetch(ahead + (i + u) * (64 / sizeof(float)), 0, 2);
    }
    b += kSteps * panel_width<T>();
    LAYARD_UNROLL
    for (std::size_t g = 0; g < kBases; ++g) base[g] += kSteps;
  }
  for (; i < k; ++i) {
    tile_step<T>(base, lda, 0, b, sum);
    b += panel_width<T>();
    LAYARD_UNROLL
    for (std::size_t g = 0; g < kBases; ++g) ++base[g];
  }
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      V::store(tile + r * ld_tile + v * V::kWidth, sum[r][v]);
    }
  }
}

using TileProduct = void (*)(const float*, std::size_t, const float*, std::size_t, float*,
                             std::size_t, bool, const float*);

template <class T, class Rows>
struct TileTable;
template <class T, std::size_t... kIndex>
struct TileTable<T, std::index_sequence<kIndex...>> {
  static constexpr TileProduct kByRows[] = {&tile_product<T, kIndex + 1>...};
};

/// The product for a tile of `rows` rows, 1 to T::kTileRows.
template <class T>
LAYARD_INLINE TileProduct tile_for(std::size_t rows) {
  return TileTable<T, std::make_index_sequence<T::kTileRows>>::kByRows[rows - 1];
}

/// Cuts `rows` rows into tiles of nearly equal height; calls are (first row, height).
struct TileCut {
  std::size_t tiles;
  std::size_t base;
  std::size_t larger;
  LAYARD_INLINE TileCut(std::size_t rows, std::size_t tile_rows)
      : tiles((rows + tile_rows - 1) / tile_rows), base(rows / tiles), larger(rows % tiles) {}
  LAYARD_INLINE std::size_t height(std::size_t tile) const {
    return base + (tile < larger ? 1 : 0);
  }
};

template <class V>
LAYARD_INLINE typename V::Reg activate(Activation activation, typename V::Reg x) {
  if (activation == Activation::kRelu) return V::max(V::zero(), x);
  if (activation == Activation::kGelu) return gelu_of<V>(x);
  return x;
}

template <class V>
LAYARD_INLINE void put(const GemmArgs& args, std::size_t row, std::size_t column,
                       typename V::Reg value) {
  if (column >= args.w.n) return;
  const std::size_t left = args.w.n - column;
  float* c = args.c + row * args.ldc + column;
  const float* residual =
      args.residual == nullptr ? nullptr : args.residual + row * args.ld_residual + column;
  if (left >= V::kWidth) {
    if (residual != nullptr) value = V::add(V::load(residual), value);
    V::store(c, value);
  } else {
    if (residual != nullptr) value = V::add(V::load_first(residual, left), value);
    V::store_first(c, left, value);
  }
}

/// Bias, activation and residual on finished sums, into C.
template <class T>
void finish_tile(const GemmArgs& args, std::size_t row, std::size_t rows, std::size_t panel,
                 const float* tile) {
  using V = typename T::V;
  using Reg = typename V::Reg;
  constexpr std::size_t kPanel = panel_width<T>();
  const bool has_bias = args.w.bias != nullptr;
  const float* bias = has_bias ? args.w.bias + panel * kPanel : nullptr;
  for (std::size_t r = 0; r < rows; ++r, tile += kPanel) {
    Reg x0 = V::load(tile);
    Reg x1 = V::load(tile + V::kWidth);
    if (has_bias) {
      x0 = V::add(x0, V::load(bias));
      x1 = V::add(x1, V::load(bias + V::kWidth));
    }
    if (args.w.gated) {
      put<V>(args, row + r, panel * V::kWidth, V::mul(gelu_of<V>(x0), x1));
    } else {
      put<V>(args, row + r, panel * kPanel, activate<V>(args.activation, x0));
      put<V>(args, row + r, panel * kPanel + V::kWidth, activate<V>(args.activation, x1));
    }
  }
}

/// Where the product reads next after chunk [first, first + length) of panel p.
template <class T>
LAYARD_INLINE const float* next_chunk(const PackedMatrix& w, std::size_t first, std::size_t length,
                                      std::size_t p, IndexRange panels) {
  std::size_t panel = p + 1;
  std::size_t depth = first;
  if (panel == panels.end) {  // the group's next chunk, or the next group
    depth = first + length == w.k ? 0 : first + length;
    panel = depth == 0 ? panel : panels.begin;
  }
  return w.panels + (panel * w.k + depth) * panel_width<T>();
}

/// One block of rows times one group of panels; scratch holds the group's sums, panel by panel.
template <class T>
void gemm_block(const GemmArgs& args, IndexRange rows, IndexRange panels, float* scratch) {
  constexpr std::size_t kPanel = panel_width<T>();
  const std::size_t k = args.w.k;
  const TileCut cut(rows.end - rows.begin, T::kTileRows);
  for (std::size_t first = 0; first < k; first += T::kChunk) {
    const std::size_t length = k - first < T::kChunk ? k - first : T::kChunk;
    const bool last = first + length == k;
    for (std::size_t p = panels.begin; p < panels.end; ++p) {
      const float* b = args.w.panels + (p * k + first) * kPanel;
      const float* ahead = next_chunk<T>(args.w, first, length, p, panels);
      float* tile = scratch + (p - panels.begin) * T::kBlockRows * kPanel;
      std::size_t row = rows.begin;
      for (std::size_t t = 0; t < cut.tiles; ++t) {
        const std::size_t height = cut.height(t);
        tile_for<T>(height)(args.a + row * args.lda + first, args.lda, b, length, tile, kPanel,
                            first > 0, ahead);
        ahead += length * (64 / sizeof(float));  // each tile fetches `length` lines of it
        if (last) finish_tile<T>(args, row, height, p, tile);
        tile += height * kPanel;
        row += height;
      }
    }
  }
}

template <class T>
void gemm(const GemmArgs& args, IndexRange rows, IndexRange panels, float* scratch) {
  for (std::size_t r = rows.begin; r < rows.end; r += T::kBlockRows) {
    const std::size_t row_end = rows.end - r < T::kBlockRows ? rows.end : r + T::kBlockRows;
    for (std::size_t p = panels.begin; p < panels.end; p += T::kGroup) {
      const std::size_t panel_end = panels.end - p < T::kGroup ? panels.end : p + T::kGroup;
      gemm_block<T>(args, {r, row_end}, {p, panel_end}, scratch);
    }
  }
}

}  // namespace
}  // namespace layard::kernels
