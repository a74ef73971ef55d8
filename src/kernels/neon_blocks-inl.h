/// Matrix products by 2 x 2 blocks: one instruction multiplies two rows of A with two columns of W,
/// eight bytes of k of each (four bfloat16, eight int8).
///
/// A unit `U` gives the block: Operand (16 bytes: eight of each row or column), Sums (2 x 2 of
/// `Sum`), dot(), and how sums lie in memory. The order of sums for one output depends only on k:
/// steps ascending, within a step the unit's own order; k is padded with zeros to whole steps.
///
/// Prepared rows come in pairs: a header (int8: the two scales), then per step eight bytes of the
/// first row and eight of the second. Panels: a header (int8: a scale per column), then per step
/// eight bytes of each column. The loops are those of gemm-inl.h, which counts pairs of rows here.
#pragma once

#include "kernels/int8-inl.h"

namespace layard::kernels {
namespace {

constexpr std::size_t kBlockBytes = 8;                  // of k, of one row or column
constexpr std::size_t kRowPairBytes = 2 * kBlockBytes;  // of an Operand
constexpr std::size_t kRowPairHeaderBytes = 16;         // two scales, padded

template <class U>
LAYARD_INLINE std::size_t block_steps(std::size_t k) {
  return ((U::kScaled ? int8_depth(k) : k) + U::kStep - 1) / U::kStep;
}

/// Bytes of a pair of prepared rows.
template <class U>
LAYARD_INLINE std::size_t row_pair_bytes(std::size_t k) {
  return (U::kScaled ? kRowPairHeaderBytes : 0) + block_steps<U>(k) * kRowPairBytes;
}

/// Where the bytes of prepared row `index` start; those of its next step are kRowPairBytes further.
template <class U>
LAYARD_INLINE std::byte* block_row(std::byte* operands, std::size_t k, std::size_t index) {
  return operands + index / 2 * row_pair_bytes<U>(k) + (U::kScaled ? kRowPairHeaderBytes : 0) +
         index % 2 * kBlockBytes;
}

template <class U>
std::size_t block_operand_bytes(std::size_t rows, std::size_t k) {
  return (rows + 1) / 2 * row_pair_bytes<U>(k);
}

/// Bytes before the first step of a panel.
template <class T, class U>
constexpr std::size_t block_header_bytes() {
  return U::kScaled ? round_up(panel_width<T>() * sizeof(float), 64) : 0;
}
template <class T, class U>
std::size_t block_panel_bytes(std::size_t k) {
  return block_header_bytes<T, U>() + block_steps<U>(k) * panel_width<T>() * kBlockBytes;
}

/// One row of A as bfloat16, zeros after it.
template <class U>
void prepare_bfloat16_block_row(const float* row, std::size_t k, std::size_t index,
                                std::byte* operands) {
  std::byte* out = block_row<U>(operands, k, index);
  std::size_t i = 0;
  for (; i + U::kStep <= k; i += U::kStep, out += kRowPairBytes) U::round_row(row + i, out);
  if (i == k) return;
  float tail[U::kStep] = {};  // never past the row's end
  for (std::size_t j = 0; i + j < k; ++j) tail[j] = row[i + j];
  U::round_row(tail, out);
}

/// One row of A as signed bytes over its scale, by the rule of prepare_int8_row.
template <class T, class U>
void prepare_int8_block_row(const float* row, std::size_t k, std::size_t index,
                            std::byte* operands) {
  using V = typename T::V;
  const float scale = row_scale<V>(row, k, 127);
  auto* scales = reinterpret_cast<float*>(operands + index / 2 * row_pair_bytes<U>(k));
  scales[index % 2] = scale / kRotationGain;
  std::byte* out = block_row<U>(operands, k, index);
  for (std::size_t first = 0; first < k; first += kRotation) {
    std::uint8_t bytes[kRotation];
    quantize_block<V>(row + first, k - first, scale, 0, bytes);
    for (std::size_t i = 0; i < kRotation; i += kBlockBytes, out += kRowPairBytes) {
      __builtin_memcpy(out, bytes + i, kBlockBytes);
    }
  }
}

template <class T, class U>
void pack_bfloat16_blocks(const void* const* rows, ElementType type, std::size_t k,
                          std::byte* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  __builtin_memset(out, 0, block_panel_bytes<T, U>(k));
  auto* panel = reinterpret_cast<std::uint16_t*>(out);
  float wide[kPanel][kPackStep] = {};
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen_rows<typename T::V>(rows, type, first, length, wide);
    for (std::size_t c = 0; c < kPanel; ++c) {
      for (std::size_t i = first; i < first + length; ++i) {
        panel[(i / U::kStep * kPanel + c) * U::kStep + i % U::kStep] =
            round_bfloat16(wide[c][i - first]);
      }
    }
  }
}

template <class T, class U>
void pack_int8_blocks(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  __builtin_memset(out, 0, block_panel_bytes<T, U>(k));
  auto* scales = reinterpret_cast<float*>(out);
  auto* bytes = reinterpret_cast<std::int8_t*>(out + block_header_bytes<T, U>());
  for (std::size_t c = 0; c < kPanel; ++c) {
    if (rows[c] == nullptr) continue;
    scales[c] = quantize_column<typename T::V>(rows[c], type, k, [&](std::size_t i, int value) {
      bytes[(i / U::kStep * kPanel + c) * U::kStep + i % U::kStep] =
          static_cast<std::int8_t>(value);
    });
  }
}

/// tile (+)= kPairs pairs of rows times one panel, `steps` steps from a and b on. The tile has one
/// row of panel_width sums after the other.
template <class T, class U, std::size_t kPairs>
__attribute__((noinline)) void block_tile(const std::byte* a, std::size_t pair_bytes,
                                          const std::byte* b, std::size_t steps, bool accumulate,
                                          typename U::Sum* tile, const std::byte* ahead) {
  constexpr std::size_t kPanel = panel_width<T>();
  constexpr std::size_t kColumnPairs = kPanel / 2;
  static_assert(kColumnPairs % 2 == 0);
  typename U::Sums sum[kPairs][kColumnPairs];
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kPairs; ++r) {
    const typename U::Sum* row = tile + 2 * r * kPanel;
    LAYARD_UNROLL
    for (std::size_t c = 0; c < kColumnPairs; c += 2) {
      sum[r][c] = sum[r][c + 1] = U::zero();
      if (accumulate) U::load(row + 2 * c, row + kPanel + 2 * c, sum[r][c], sum[r][c + 1]);
    }
  }
  for (std::size_t s = 0; s < steps; ++s) {
    typename U::Operand x[kPairs];
    LAYARD_UNROLL
    for (std::size_t r = 0; r < kPairs; ++r) x[r] = U::operand(a + r * pair_bytes);
    LAYARD_UNROLL
    for (std::size_t c = 0; c < kColumnPairs; ++c) {
      const typename U::Operand w = U::operand(b + c * kRowPairBytes);
      LAYARD_UNROLL
      for (std::size_t r = 0; r < kPairs; ++r) sum[r][c] = U::dot(sum[r][c], x[r], w);
    }
    __builtin_prefetch(ahead + s * kPanel * kBlockBytes, 0, 2);
    a += kRowPairBytes;
    b += kPanel * kBlockBytes;
  }
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kPairs; ++r) {
    typename U::Sum* row = tile + 2 * r * kPanel;
    LAYARD_UNROLL
    for (std::size_t c = 0; c < kColumnPairs; c += 2) {
      U::store(sum[r][c], sum[r][c + 1], row + 2 * c, row + kPanel + 2 * c);
    }
  }
}

template <class T, class U, class Pairs>
struct BlockTileTable;
template <class T, class U, std::size_t... kIndex>
struct BlockTileTable<T, U, std::index_sequence<kIndex...>> {
  static constexpr decltype(&block_tile<T, U, 1>) kByPairs[] = {&block_tile<T, U, kIndex + 1>...};
};

/// Integer sums of prepared pairs as floats. The scales are applied here, by the rule of
/// ScaledSums, and nowhere else.
template <class V>
struct PairScaledSums {
  const std::int32_t* tile;
  std::size_t ld;
  const std::byte* pairs;  ///< the tile's first pair: its two scales come first
  std::size_t pair_bytes;
  const float* column_scales;
  LAYARD_INLINE typename V::Reg at(std::size_t row, std::size_t vector) const {
    const std::byte* scale = pairs + row / 2 * pair_bytes + row % 2 * sizeof(float);
    return ScaledSums<V>{tile + row * ld, ld, scale, 0, column_scales}.at(0, vector);
  }
};

/// The product that gemm_block runs over pairs of rows, from pair `first_pair` on.
template <class T, class U>
class BlockProduct {
 public:
  using V = typename T::V;
  using Sum = typename U::Sum;
  static constexpr std::size_t kColumns = panel_width<T>();
  // In pairs of rows, as gemm_block counts them.
  static constexpr std::size_t kPanel = 2 * kColumns;
  static constexpr std::size_t kTileRows = T::kTileRows / 2;
  static constexpr std::size_t kBlockRows = T::kBlockRows / 2;
  static constexpr std::size_t kGroup = T::kGroup;
  /// 16 KB of a panel on NEON, as of float32: with the rows of a tile it stays in the L1 cache.
  static constexpr std::size_t kChunk = 256 * U::kStep;
  static constexpr std::size_t kChunkBytes = 0;

  BlockProduct(const GemmArgs& args, std::size_t row_end, std::size_t first_pair)
      : args_(args),
        row_end_(row_end),
        first_pair_(first_pair),
        panel_bytes_(block_panel_bytes<T, U>(args.w.k)),
        pair_bytes_(row_pair_bytes<U>(args.w.k)) {}

  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t first) const {
    return panel(p) + block_header_bytes<T, U>() + first / U::kStep * kColumns * kBlockBytes;
  }
  LAYARD_INLINE const std::byte* chunk(const std::byte* stored, std::size_t, std::byte*) const {
    return stored;
  }
  LAYARD_INLINE void tile(std::size_t pair, std::size_t pairs, IndexRange depth, const std::byte* b,
                          Sum* sums, const std::byte* ahead) const {
    const std::byte* a = args_.a + pair * pair_bytes_ + (U::kScaled ? kRowPairHeaderBytes : 0) +
                         depth.begin / U::kStep * kRowPairBytes;
    // The first tile fetches the whole next chunk.
    Table::kByPairs[pairs - 1](a, pair_bytes_, b, block_steps<U>(depth.end - depth.begin),
                               depth.begin > 0, sums, pair == first_pair_ ? ahead : b);
  }
  LAYARD_INLINE void finish(std::size_t pair, std::size_t pairs, std::size_t p,
                            const Sum* sums) const {
    const std::size_t row = 2 * pair;
    const std::size_t rows = row + 2 * pairs < row_end_ ? 2 * pairs : row_end_ - row;
    if constexpr (U::kScaled) {
      finish_tile<T>(args_, row, rows, p,
                     PairScaledSums<V>{sums, kColumns, args_.a + pair * pair_bytes_, pair_bytes_,
                                       reinterpret_cast<const float*>(panel(p))});
    } else {
      finish_tile<T>(args_, row, rows, p, FloatSums<V>{sums, kColumns});
    }
  }

 private:
  using Table = BlockTileTable<T, U, std::make_index_sequence<kTileRows>>;

  LAYARD_INLINE const std::byte* panel(std::size_t p) const {
    return args_.w.panels + p * panel_bytes_;
  }

  const GemmArgs& args_;
  std::size_t row_end_;
  std::size_t first_pair_;
  std::size_t panel_bytes_;
  std::size_t pair_bytes_;
};

template <class T, class U>
void block_gemm(const GemmArgs& args, IndexRange rows, IndexRange panels, std::byte* scratch) {
  using Product = BlockProduct<T, U>;
  const IndexRange pairs{rows.begin / 2, (rows.end + 1) / 2};
  each_block<Product>(pairs, panels, [&](IndexRange block, IndexRange group) {
    gemm_block(Product(args, rows.end, block.begin), args.w.k, block, group, scratch);
  });
}

template <class T, class U>
constexpr LinearKernels block_kernels(std::string_view name) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = panel_width<T>();
  linear.panels_per_call = T::kGroup;
  linear.row_step = 2;
  linear.panel_bytes = &block_panel_bytes<T, U>;
  linear.operand_bytes = &block_operand_bytes<U>;
  if constexpr (U::kScaled) {
    linear.pack_panel = &pack_int8_blocks<T, U>;
    linear.prepare = &prepare_int8_block_row<T, U>;
  } else {
    linear.pack_panel = &pack_bfloat16_blocks<T, U>;
    linear.prepare = &prepare_bfloat16_block_row<U>;
  }
  linear.scratch_bytes = &gemm_scratch_bytes<BlockProduct<T, U>>;
  linear.gemm = &block_gemm<T, U>;
  return linear;
}

}  // namespace
}  // namespace layard::kernels
