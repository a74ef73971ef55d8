/// The packed-panel matrix product in float32.
///
/// Loops, outermost first: blocks of rows (kBlockRows), groups of panels (kGroup), chunks of k
/// (kChunk), panels, tiles of rows. One tile keeps kTileRows x 2 vectors in registers over one
/// chunk; between chunks its sums rest in scratch as floats, which loses nothing, so each output
/// is one chain of fused sums in ascending k whatever the blocking. A chunk of a panel (kChunk x
/// panel) stays in the L1 cache for all tiles of the block; the block's rows of A stay in L2.
///
/// A Target names the vector type and these sizes; a Store says how weights lie in a panel.
#pragma once

#include "kernels/math-inl.h"
#include "kernels/widen-inl.h"

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
                                            bool accumulate, const std::byte* ahead) {
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
      __builtin_prefetch(ahead + (i + u) * 64, 0, 2);
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
                             std::size_t, bool, const std::byte*);

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

/// Sums that rest in scratch as float32, a tile of rows with panel_width floats each.
template <class V>
struct FloatSums {
  const float* tile;
  std::size_t ld;
  LAYARD_INLINE typename V::Reg at(std::size_t row, std::size_t vector) const {
    return V::load(tile + row * ld + vector * V::kWidth);
  }
};

/// How a tile is finished, as constants: C must not be asked again for every vector.
template <bool kBias, bool kResidual, Activation kActivation>
struct Finish {
  /// One row of a panel that lies in C whole.
  template <class V, class Sums>
  static LAYARD_INLINE void row(const Sums& sums, std::size_t r, const float* bias,
                                const float* residual, float* c) {
    using Reg = typename V::Reg;
    Reg x0 = sums.at(r, 0);
    Reg x1 = sums.at(r, 1);
    if constexpr (kBias) {
      x0 = V::add(x0, V::load(bias));
      x1 = V::add(x1, V::load(bias + V::kWidth));
    }
    if constexpr (kActivation == Activation::kGeluGate) {
      x0 = V::mul(gelu_of<V>(x0), x1);
    } else {
      x0 = activate<V>(kActivation, x0);
      x1 = activate<V>(kActivation, x1);
      if constexpr (kResidual) x1 = V::add(V::load(residual + V::kWidth), x1);
      V::store(c + V::kWidth, x1);
    }
    if constexpr (kResidual) x0 = V::add(V::load(residual), x0);
    V::store(c, x0);
  }
};

/// Where finished rows go: row r of the tile at c + r * ldc, its residual beside it.
struct FinishedRows {
  float* c;
  std::size_t ldc;
  const float* residual;  ///< or null
  std::size_t ld_residual;
};

template <class V, class F, class Sums>
LAYARD_INLINE void finish_rows(const FinishedRows& to, const float* bias, IndexRange rows,
                               const Sums& sums) {
  const float* residual = to.residual;
  float* c = to.c;
  for (std::size_t r = rows.begin; r < rows.end; ++r) {
    F::template row<V>(sums, r, bias, residual, c);
    c += to.ldc;
    if (residual != nullptr) residual += to.ld_residual;
  }
}

template <class V, bool kBias, bool kResidual, class Sums>
LAYARD_INLINE void finish_activated(const GemmArgs& args, const FinishedRows& to, const float* bias,
                                    IndexRange rows, const Sums& sums) {
  using enum Activation;
  if (args.w.gated) {
    finish_rows<V, Finish<kBias, kResidual, kGeluGate>>(to, bias, rows, sums);
  } else if (args.activation == kGelu) {
    finish_rows<V, Finish<kBias, kResidual, kGelu>>(to, bias, rows, sums);
  } else if (args.activation == kRelu) {
    finish_rows<V, Finish<kBias, kResidual, kRelu>>(to, bias, rows, sums);
  } else {
    finish_rows<V, Finish<kBias, kResidual, kNone>>(to, bias, rows, sums);
  }
}

/// Rows [rows.begin, rows.end) of the tile, every column of the panel, to `to`.
template <class T, class Sums>
void finish_panel(const GemmArgs& args, const FinishedRows& to, std::size_t panel, IndexRange rows,
                  const Sums& sums) {
  using V = typename T::V;
  const float* bias = args.w.bias == nullptr ? nullptr : args.w.bias + panel * panel_width<T>();
  if (bias == nullptr) {
    to.residual != nullptr ? finish_activated<V, false, true>(args, to, bias, rows, sums)
                           : finish_activated<V, false, false>(args, to, bias, rows, sums);
  } else {
    to.residual != nullptr ? finish_activated<V, true, true>(args, to, bias, rows, sums)
                           : finish_activated<V, true, false>(args, to, bias, rows, sums);
  }
}

/// Bias, activation and residual on finished sums, into C. Sums::at(row of the tile, vector).
template <class T, class Sums>
void finish_tile(const GemmArgs& args, std::size_t row, std::size_t rows, std::size_t panel,
                 const Sums& sums) {
  const std::size_t columns = args.w.gated ? T::V::kWidth : panel_width<T>();
  const std::size_t column = panel * columns;
  float* c = args.c + row * args.ldc + column;
  const float* residual =
      args.residual == nullptr ? nullptr : args.residual + row * args.ld_residual + column;
  if (column + columns <= args.w.n) {
    return finish_panel<T>(args, {c, args.ldc, residual, args.ld_residual}, panel, {0, rows}, sums);
  }
  // C has a part of the panel only: rows are finished beside it, and that part is copied.
  const std::size_t bytes = (args.w.n - column) * sizeof(float);
  float residual_row[panel_width<T>()] = {};
  float finished_row[panel_width<T>()];
  for (std::size_t r = 0; r < rows; ++r) {
    if (residual != nullptr) {
      __builtin_memcpy(residual_row, residual + r * args.ld_residual, bytes);
    }
    const FinishedRows beside{finished_row, 0, residual == nullptr ? nullptr : residual_row, 0};
    finish_panel<T>(args, beside, panel, {r, r + 1}, sums);
    __builtin_memcpy(c + r * args.ldc, finished_row, bytes);
  }
}

/// Panels of float32, [k][panel]: read as they lie.
template <class T>
struct FloatStore {
  static constexpr std::size_t kElementBytes = sizeof(float);
  static constexpr bool kWidens = false;
  static LAYARD_INLINE const float* chunk(const std::byte* panel, std::size_t, float*) {
    return reinterpret_cast<const float*>(panel);
  }
};

/// Panels of float16 or bfloat16, [k][panel]: each chunk is widened exactly into scratch and read
/// there by every tile of the block.
template <class T, ElementType kType>
struct HalfStore {
  static constexpr std::size_t kElementBytes = sizeof(std::uint16_t);
  static constexpr bool kWidens = true;
  static const float* chunk(const std::byte* panel, std::size_t length, float* wide) {
    widen<typename T::V>(panel, kType, length * panel_width<T>(), wide);
    return wide;
  }
};

/// float32 products of float32 rows with panels of a Store. The interface of every product:
/// sizes, `Sum`, and what gemm_block calls.
template <class T, class Store>
class FloatProduct {
 public:
  using Sum = float;
  static constexpr std::size_t kPanel = panel_width<T>();
  static constexpr std::size_t kTileRows = T::kTileRows;
  static constexpr std::size_t kBlockRows = T::kBlockRows;
  static constexpr std::size_t kGroup = T::kGroup;
  static constexpr std::size_t kChunk = T::kChunk;
  /// Bytes for a chunk in the form that tile() reads, where the panel has another.
  static constexpr std::size_t kChunkBytes = Store::kWidens ? kChunk * kPanel * sizeof(float) : 0;

  explicit FloatProduct(const GemmArgs& args) : args_(args) {}

  /// The place of panel p from depth `first` on.
  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t first) const {
    return args_.w.panels + (p * args_.w.k + first) * kPanel * Store::kElementBytes;
  }
  LAYARD_INLINE const std::byte* chunk(const std::byte* panel, std::size_t length,
                                       std::byte* buffer) const {
    return reinterpret_cast<const std::byte*>(
        Store::chunk(panel, length, reinterpret_cast<float*>(buffer)));
  }
  /// tile (+)= rows [row, row + height) of A, [first, first + length), times chunk b.
  LAYARD_INLINE void tile(std::size_t row, std::size_t height, IndexRange depth, const std::byte* b,
                          float* sums, const std::byte* ahead) const {
    const std::size_t lda = args_.a_stride / sizeof(float);
    tile_for<T>(height)(reinterpret_cast<const float*>(args_.a) + row * lda + depth.begin, lda,
                        reinterpret_cast<const float*>(b), depth.end - depth.begin, sums, kPanel,
                        depth.begin > 0, ahead);
  }
  LAYARD_INLINE void finish(std::size_t row, std::size_t height, std::size_t p,
                            const float* sums) const {
    finish_tile<T>(args_, row, height, p, FloatSums<typename T::V>{sums, kPanel});
  }

 private:
  const GemmArgs& args_;
};

/// Where the product reads next after chunk `depth` of panel p.
template <class P>
LAYARD_INLINE const std::byte* next_chunk(const P& product, std::size_t k, IndexRange depth,
                                          std::size_t p, IndexRange panels) {
  if (p + 1 < panels.end) return product.stored(p + 1, depth.begin);
  // The group's next chunk, or the next group.
  return depth.end == k ? product.stored(p + 1, 0) : product.stored(panels.begin, depth.end);
}

/// One block of rows times one group of panels; scratch holds the group's sums, panel by panel,
/// then the chunk as tile() reads it.
template <class P>
void gemm_block(const P& product, std::size_t k, IndexRange rows, IndexRange panels,
                std::byte* scratch) {
  auto* sums = reinterpret_cast<typename P::Sum*>(scratch);
  std::byte* buffer = scratch + P::kBlockRows * P::kGroup * P::kPanel * sizeof(typename P::Sum);
  const TileCut cut(rows.end - rows.begin, P::kTileRows);
  for (std::size_t first = 0; first < k; first += P::kChunk) {
    const IndexRange depth{first, k - first < P::kChunk ? k : first + P::kChunk};
    const std::size_t length = depth.end - depth.begin;
    for (std::size_t p = panels.begin; p < panels.end; ++p) {
      const std::byte* b = product.chunk(product.stored(p, first), length, buffer);
      const std::byte* ahead = next_chunk(product, k, depth, p, panels);
      auto* tile = sums + (p - panels.begin) * P::kBlockRows * P::kPanel;
      std::size_t row = rows.begin;
      for (std::size_t t = 0; t < cut.tiles; ++t) {
        const std::size_t height = cut.height(t);
        product.tile(row, height, depth, b, tile, ahead);
        ahead += length * 64;  // each tile fetches up to `length` lines of it
        if (depth.end == k) product.finish(row, height, p, tile);
        tile += height * P::kPanel;
        row += height;
      }
    }
  }
}

/// Calls work(rows, panels) for every block of P::kBlockRows rows and group of P::kGroup panels.
template <class P, class Work>
LAYARD_INLINE void each_block(IndexRange rows, IndexRange panels, const Work& work) {
  for (std::size_t r = rows.begin; r < rows.end; r += P::kBlockRows) {
    const std::size_t row_end = rows.end - r < P::kBlockRows ? rows.end : r + P::kBlockRows;
    for (std::size_t p = panels.begin; p < panels.end; p += P::kGroup) {
      const std::size_t panel_end = panels.end - p < P::kGroup ? panels.end : p + P::kGroup;
      work(IndexRange{r, row_end}, IndexRange{p, panel_end});
    }
  }
}

template <class P>
void gemm(const GemmArgs& args, IndexRange rows, IndexRange panels, std::byte* scratch) {
  const P product(args);
  each_block<P>(rows, panels, [&](IndexRange block_rows, IndexRange group) {
    gemm_block(product, args.w.k, block_rows, group, scratch);
  });
}

template <class P>
std::size_t gemm_scratch_bytes(std::size_t) {
  return P::kBlockRows * P::kGroup * P::kPanel * sizeof(typename P::Sum) + P::kChunkBytes;
}

template <class T, class Store>
std::size_t float_panel_bytes(std::size_t k) {
  return k * panel_width<T>() * Store::kElementBytes;
}

}  // namespace
}  // namespace layard::kernels
