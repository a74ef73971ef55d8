/// The matrix product of kInt8 in pairs of 16-bit integers, for vector units without a product of
/// bytes that keeps its sums: AVX2's adds two of them in 16 bits, so that activations have 7 bits
/// left, and takes as many instructions as pairs of 16 bits do.
///
/// Blocks are padded and rotated as in int8-inl.h. A prepared row: its scale over kRotationGain
/// (float, then padding to 64 bytes) and an integer of at most kWordMax per element. A panel: one
/// scale per column (float), then pairs of k, [k / 2][panel][2]. A column's scale is a power of
/// two, the smallest for which kWordMax times the sum of its integers' sizes stays within 31 bits:
/// sums are exact for any row. V has what other vectors lack: dot_words and store_words.
#pragma once

#include "kernels/int8-inl.h"

namespace layard::kernels {
namespace {

constexpr int kWordMax = 4095;
constexpr std::size_t kWordPairBytes = 2 * sizeof(std::int16_t);

template <class T>
std::size_t word_panel_bytes(std::size_t k) {
  const std::size_t header = panel_width<T>() * sizeof(float);
  return round_up(header + int8_depth(k) * panel_width<T>() * sizeof(std::int16_t), 64);
}

/// The largest power of two that keeps a column of `depth` elements within the bounds above, when
/// its elements' sizes are at most `most` and add up to `total`; 0 for a column of zeros.
LAYARD_INLINE float column_factor(float most, float total, std::size_t depth) {
  if (!(most > 0)) return 0;
  // Rounding adds up to a half each, and `total` itself is a rounded sum.
  const float room =
      2147483647.0F / static_cast<float>(kWordMax) - static_cast<float>(depth) / 2 - 4096.0F;
  const float by_size = 32767.0F / most;
  const float by_total = room / total;
  const float limit = by_size < by_total ? by_size : by_total;
  std::uint32_t bits;
  __builtin_memcpy(&bits, &limit, sizeof(bits));
  bits &= 0xFF800000U;  // without its fraction
  float power;
  __builtin_memcpy(&power, &bits, sizeof(power));
  return power;
}

/// Calls put(i, value) for each of the int8_depth(k) quantised elements of a column of weights;
/// returns its scale.
template <class V, class Put>
LAYARD_INLINE float word_column(const void* row, ElementType type, std::size_t k, const Put& put) {
  typename V::Reg most = V::zero();
  typename V::Reg total = V::zero();
  each_column_block<V>(row, type, k, [&](std::size_t, const RotatedBlock<V>& block) {
    for (const typename V::Reg& value : block.reg) {
      most = V::max(V::abs(value), most);
      total = V::add(total, V::abs(value));
    }
  });
  const float factor = column_factor(V::max_of(most), V::sum(total), int8_depth(k));
  each_column_block<V>(row, type, k, [&](std::size_t first, const RotatedBlock<V>& block) {
    float rotated[kRotation];
    for (std::size_t r = 0; r < RotatedBlock<V>::kRegs; ++r) {
      V::store(rotated + r * V::kWidth, block.reg[r]);
    }
    for (std::size_t i = 0; i < kRotation; ++i) put(first + i, round_to_int(rotated[i] * factor));
  });
  return factor > 0 ? 1.0F / factor : 0.0F;
}

template <class T>
void pack_word_panel(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  auto* scales = reinterpret_cast<float*>(out);
  auto* words = reinterpret_cast<std::int16_t*>(scales + kPanel);
  __builtin_memset(out, 0, word_panel_bytes<T>(k));
  for (std::size_t c = 0; c < kPanel; ++c) {
    if (rows[c] == nullptr) continue;
    scales[c] = word_column<typename T::V>(rows[c], type, k, [&](std::size_t i, int value) {
      words[(i / 2 * kPanel + c) * 2 + i % 2] = static_cast<std::int16_t>(value);
    });
  }
}

LAYARD_INLINE std::size_t word_row_bytes(std::size_t k) {
  return kRowHeaderBytes + int8_depth(k) * sizeof(std::int16_t);
}
inline std::size_t word_operand_bytes(std::size_t rows, std::size_t k) {
  return rows * word_row_bytes(k);
}

template <class T>
void prepare_word_row(const float* row, std::size_t k, std::size_t index, std::byte* operands) {
  using V = typename T::V;
  std::byte* operand = operands + index * word_row_bytes(k);
  const float scale = row_scale<V>(row, k, kWordMax);
  *reinterpret_cast<float*>(operand) = scale / kRotationGain;
  const typename V::Reg factor = V::set1(scale > 0 ? 1.0F / scale : 0.0F);
  auto* words = reinterpret_cast<std::int16_t*>(operand + kRowHeaderBytes);
  for (std::size_t i = 0; i < k; i += kRotation) {
    const RotatedBlock<V> block(row + i, k - i);
    LAYARD_UNROLL
    for (std::size_t r = 0; r < RotatedBlock<V>::kRegs; ++r) {
      V::store_words(words + i + r * V::kWidth, V::mul(block.reg[r], factor));
    }
  }
}

/// tile[r][c] (+)= sum over `pairs` pairs of k; rows of A are `stride` bytes apart.
template <class T, std::size_t kRows>
__attribute__((noinline)) void word_tile(const std::byte* a, std::size_t stride, const std::byte* b,
                                         std::size_t pairs, std::int32_t* tile, bool accumulate,
                                         const std::byte* ahead) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  constexpr std::size_t kBases = (kRows + 2) / 3;  // each base reaches three rows by scaled index
  constexpr std::int32_t kNothing[V::kWidth] = {};
  typename V::IntReg sum[kRows][kPanelVectors];
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      sum[r][v] = V::load_ints(accumulate ? tile + r * kPanel + v * V::kWidth : kNothing);
    }
  }
  const std::byte* base[kBases];
  LAYARD_UNROLL
  for (std::size_t g = 0; g < kBases; ++g) base[g] = a + 3 * g * stride;
  for (std::size_t i = 0; i < pairs; ++i) {
    const typename V::IntReg b0 = V::load_ints(b);
    const typename V::IntReg b1 = V::load_ints(b + V::kWidth * kWordPairBytes);
    LAYARD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const typename V::IntReg x = V::repeat_bytes(base[r / 3] + (r % 3) * stride);
      sum[r][0] = V::dot_words(sum[r][0], x, b0);
      sum[r][1] = V::dot_words(sum[r][1], x, b1);
    }
    LAYARD_UNROLL
    for (std::size_t g = 0; g < kBases; ++g) base[g] += kWordPairBytes;
    __builtin_prefetch(ahead + i * 64, 0, 2);
    b += kPanel * kWordPairBytes;
  }
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      V::store_ints(tile + r * kPanel + v * V::kWidth, sum[r][v]);
    }
  }
}

template <class T, class Rows>
struct WordTileTable;
template <class T, std::size_t... kIndex>
struct WordTileTable<T, std::index_sequence<kIndex...>> {
  static constexpr decltype(&word_tile<T, 1>) kByRows[] = {&word_tile<T, kIndex + 1>...};
};

template <class T>
class WordProduct {
 public:
  using V = typename T::V;
  using Sum = std::int32_t;
  static constexpr std::size_t kPanel = panel_width<T>();
  static constexpr std::size_t kTileRows = T::kTileRows;
  static constexpr std::size_t kBlockRows = T::kBlockRows;
  static constexpr std::size_t kGroup = T::kGroup;
  static constexpr std::size_t kChunk = 2 * T::kChunk;
  static constexpr std::size_t kChunkBytes = 0;
  static_assert(kChunk % kRotation == 0);

  explicit WordProduct(const GemmArgs& args)
      : args_(args),
        panel_bytes_(word_panel_bytes<T>(args.w.k)),
        row_bytes_(word_row_bytes(args.w.k)) {}

  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t first) const {
    return panel(p) + kHeaderBytes + first / 2 * kPanel * kWordPairBytes;
  }
  LAYARD_INLINE const std::byte* chunk(const std::byte* panel, std::size_t, std::byte*) const {
    return panel;
  }
  LAYARD_INLINE void tile(std::size_t row, std::size_t height, IndexRange depth, const std::byte* b,
                          std::int32_t* sums, const std::byte* ahead) const {
    const std::size_t pairs = int8_depth(depth.end - depth.begin) / 2;
    Table::kByRows[height - 1](
        args_.a + row * row_bytes_ + kRowHeaderBytes + depth.begin * sizeof(std::int16_t),
        row_bytes_, b, pairs, sums, depth.begin > 0, ahead);
  }
  LAYARD_INLINE void finish(std::size_t row, std::size_t height, std::size_t p,
                            const std::int32_t* sums) const {
    const ScaledSums<V> scaled{sums, kPanel, args_.a + row * row_bytes_, row_bytes_,
                               reinterpret_cast<const float*>(panel(p))};
    finish_tile<T>(args_, row, height, p, scaled);
  }

 private:
  using Table = WordTileTable<T, std::make_index_sequence<T::kTileRows>>;
  static constexpr std::size_t kHeaderBytes = kPanel * sizeof(float);

  LAYARD_INLINE const std::byte* panel(std::size_t p) const {
    return args_.w.panels + p * panel_bytes_;
  }

  const GemmArgs& args_;
  std::size_t panel_bytes_;
  std::size_t row_bytes_;
};

template <class T>
constexpr LinearKernels word_kernels(std::string_view name) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = panel_width<T>();
  linear.panels_per_call = T::kGroup;
  linear.panel_bytes = &word_panel_bytes<T>;
  linear.pack_panel = &pack_word_panel<T>;
  linear.operand_bytes = &word_operand_bytes;
  linear.prepare = &prepare_word_row<T>;
  linear.scratch_bytes = &gemm_scratch_bytes<WordProduct<T>>;
  linear.gemm = &gemm<WordProduct<T>>;
  return linear;
}

}  // namespace
}  // namespace layard::kernels
