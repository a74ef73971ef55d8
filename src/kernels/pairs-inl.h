/// The matrix product of bfloat16 in pairs of k, for vector units that multiply such pairs.
///
/// A prepared row: k bfloat16, zeros up to a whole cache line. A panel: pairs of k,
/// [k / 2][panel][2], where an odd k is padded with zero weights. Each output is one chain of fused
/// sums, pair after pair in ascending k, the second of a pair first (as the instruction has it).
/// V has what other vectors lack: PairReg, load_pairs, repeat_pair, dot_pairs and round_row.
#pragma once

#include "kernels/pack-inl.h"

namespace layard::kernels {
namespace {

constexpr std::size_t kPairBytes = 2 * sizeof(std::uint16_t);

/// Elements that V::round_row turns into bfloat16 at a time: a cache line of them.
constexpr std::size_t kRoundStep = 32;

constexpr std::size_t pairs_of(std::size_t k) { return (k + 1) / 2; }

template <class T>
std::size_t pair_panel_bytes(std::size_t k) {
  return pairs_of(k) * panel_width<T>() * kPairBytes;
}

/// Rows are never a multiple of 4,096 bytes apart: they would share cache sets.
LAYARD_INLINE std::size_t pair_row_bytes(std::size_t k) {
  const std::size_t bytes = round_up(k * sizeof(std::uint16_t), 64);
  return bytes % 4096 == 0 ? bytes + 64 : bytes;
}
inline std::size_t pair_operand_bytes(std::size_t rows, std::size_t k) {
  return rows * pair_row_bytes(k);
}

template <class T>
void prepare_pair_row(const float* row, std::size_t k, std::size_t index, std::byte* operands) {
  using V = typename T::V;
  std::byte* out = operands + index * pair_row_bytes(k);
  std::size_t i = 0;
  for (; i + kRoundStep <= k; i += kRoundStep, out += 64) V::round_row(row + i, out);
  if (i == k) return;
  float tail[kRoundStep] = {};
  __builtin_memcpy(tail, row + i, (k - i) * sizeof(float));
  V::round_row(tail, out);
}

template <class T>
void pack_pair_panel(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  auto* panel = reinterpret_cast<std::uint16_t*>(out);
  if (k % 2 != 0) __builtin_memset(panel + (k / 2) * 2 * kPanel, 0, kPanel * kPairBytes);
  float wide[kPanel][kPackStep] = {};
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen_rows<typename T::V>(rows, type, first, length, wide);
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t at = first + i;
      for (std::size_t c = 0; c < kPanel; ++c) {
        panel[(at / 2 * kPanel + c) * 2 + at % 2] = round_bfloat16(wide[c][i]);
      }
    }
  }
}

/// tile[r][c] (+)= sum over `pairs` pairs of k; rows of A are `stride` bytes apart.
template <class T, std::size_t kRows>
__attribute__((noinline)) void pair_tile(const std::byte* a, std::size_t stride, const std::byte* b,
                                         std::size_t pairs, float* tile, bool accumulate,
                                         const std::byte* ahead) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  constexpr std::size_t kBases = (kRows + 2) / 3;  // each base reaches three rows by scaled index
  typename V::Reg sum[kRows][kPanelVectors];
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      sum[r][v] = accumulate ? V::load(tile + r * kPanel + v * V::kWidth) : V::zero();
    }
  }
  const std::byte* base[kBases];
  LAYARD_UNROLL
  for (std::size_t g = 0; g < kBases; ++g) base[g] = a + 3 * g * stride;
  for (std::size_t i = 0; i < pairs; ++i) {
    const typename V::PairReg b0 = V::load_pairs(b);
    const typename V::PairReg b1 = V::load_pairs(b + V::kWidth * kPairBytes);
    LAYARD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const typename V::PairReg x = V::repeat_pair(base[r / 3] + (r % 3) * stride);
      sum[r][0] = V::dot_pairs(sum[r][0], x, b0);
      sum[r][1] = V::dot_pairs(sum[r][1], x, b1);
    }
    LAYARD_UNROLL
    for (std::size_t g = 0; g < kBases; ++g) base[g] += kPairBytes;
    __builtin_prefetch(ahead + 2 * i * 64, 0, 2);
    __builtin_prefetch(ahead + (2 * i + 1) * 64, 0, 2);
    b += kPanel * kPairBytes;
  }
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      V::store(tile + r * kPanel + v * V::kWidth, sum[r][v]);
    }
  }
}

template <class T, class Rows>
struct PairTileTable;
template <class T, std::size_t... kIndex>
struct PairTileTable<T, std::index_sequence<kIndex...>> {
  static constexpr decltype(&pair_tile<T, 1>) kByRows[] = {&pair_tile<T, kIndex + 1>...};
};

template <class T>
class PairProduct {
 public:
  using V = typename T::V;
  using Sum = float;
  static constexpr std::size_t kPanel = panel_width<T>();
  static constexpr std::size_t kTileRows = T::kTileRows;
  static constexpr std::size_t kBlockRows = T::kBlockRows;
  static constexpr std::size_t kGroup = T::kGroup;
  static constexpr std::size_t kChunk = 2 * T::kChunk;
  static constexpr std::size_t kChunkBytes = 0;
  static_assert(kChunk % 2 == 0);

  explicit PairProduct(const GemmArgs& args)
      : args_(args),
        panel_bytes_(pair_panel_bytes<T>(args.w.k)),
        row_bytes_(pair_row_bytes(args.w.k)) {}

  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t first) const {
    return args_.w.panels + p * panel_bytes_ + first / 2 * kPanel * kPairBytes;
  }
  LAYARD_INLINE const std::byte* chunk(const std::byte* panel, std::size_t, std::byte*) const {
    return panel;
  }
  LAYARD_INLINE void tile(std::size_t row, std::size_t height, IndexRange depth, const std::byte* b,
                          float* sums, const std::byte* ahead) const {
    Table::kByRows[height - 1](args_.a + row * row_bytes_ + depth.begin * sizeof(std::uint16_t),
                               row_bytes_, b, pairs_of(depth.end - depth.begin), sums,
                               depth.begin > 0, ahead);
  }
  LAYARD_INLINE void finish(std::size_t row, std::size_t height, std::size_t p,
                            const float* sums) const {
    finish_tile<T>(args_, row, height, p, FloatSums<V>{sums, kPanel});
  }

 private:
  using Table = PairTileTable<T, std::make_index_sequence<T::kTileRows>>;

  const GemmArgs& args_;
  std::size_t panel_bytes_;
  std::size_t row_bytes_;
};

template <class T>
constexpr LinearKernels pair_kernels(std::string_view name) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = panel_width<T>();
  linear.panels_per_call = T::kGroup;
  linear.panel_bytes = &pair_panel_bytes<T>;
  linear.pack_panel = &pack_pair_panel<T>;
  linear.operand_bytes = &pair_operand_bytes;
  linear.prepare = &prepare_pair_row<T>;
  linear.scratch_bytes = &gemm_scratch_bytes<PairProduct<T>>;
  linear.gemm = &gemm<PairProduct<T>>;
  return linear;
}

}  // namespace
}  // namespace layard::kernels
