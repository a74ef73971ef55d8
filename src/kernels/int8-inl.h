/// The matrix product in 8-bit integers, for vector units.
///
/// A prepared row: its scale (float, then padding to 64 bytes) and k bytes, each the rounded value
/// over the scale plus V::kByteOffset, so that they are unsigned. A panel: one scale and one
/// correction (int32: minus kByteOffset times the column's sum) per column, then groups of four
/// bytes of k, [k / 4][panel][4]. k is padded with zero weights to a multiple of four. Sums are
/// exact int32: |sum| <= k * 127 * 255, hence k <= 65,536.
#pragma once

#include "kernels/pack-inl.h"

namespace layard::kernels {
namespace {

constexpr std::size_t kRowHeaderBytes = 64;
constexpr std::size_t kByteGroup = 4;

/// Largest absolute value of a row; NaN where any element is not finite.
template <class V>
LAYARD_INLINE float largest(const float* x, std::size_t n) {
  typename V::Reg most = V::zero();
  typename V::Reg poison = V::zero();  // 0 * x: NaN where x is not finite, which max() would drop
  const typename V::Reg zero = V::zero();
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) {
    const typename V::Reg value = V::load(x + i);
    most = V::max(V::abs(value), most);
    poison = V::fma(value, zero, poison);
  }
  if (i < n) {
    const typename V::Reg value = V::load_first(x + i, n - i);
    most = V::max(V::abs(value), most);
    poison = V::fma(value, zero, poison);
  }
  return V::max_of(most) + V::sum(poison);
}

/// The scale by which a row's largest value becomes `max_integer`; NaN where it is not finite.
template <class V>
LAYARD_INLINE float row_scale(const float* x, std::size_t n, int max_integer) {
  return largest<V>(x, n) / static_cast<float>(max_integer);
}

/// Rounds n values over `scale` to integers and stores them plus `offset` as bytes, those of zeros
/// after them up to `padded`, a multiple of V::kWidth.
template <class V>
LAYARD_INLINE void quantize(const float* x, std::size_t n, std::size_t padded, float scale,
                            int offset, std::uint8_t* out) {
  const typename V::Reg factor = V::set1(scale > 0 ? 1.0F / scale : 0.0F);
  for (std::size_t i = 0; i < padded; i += V::kWidth) {
    const std::size_t left = i < n ? n - i : 0;
    const typename V::Reg value = left >= V::kWidth ? V::load(x + i)
                                  : left > 0        ? V::load_first(x + i, left)
                                                    : V::zero();
    V::store_bytes(out + i, V::mul(value, factor), offset);
  }
}

template <class T>
std::size_t int8_panel_bytes(std::size_t k) {
  const std::size_t header = panel_width<T>() * (sizeof(float) + sizeof(std::int32_t));
  return round_up(header + round_up(k, kByteGroup) * panel_width<T>(), 64);
}

/// The scale of one column of weights.
template <class V>
LAYARD_INLINE float column_scale(const void* row, ElementType type, std::size_t k) {
  float most = 0;
  float wide[kPackStep];
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen<V>(static_cast<const unsigned char*>(row) + first * element_bytes(type), type, length,
             wide);
    const float here = largest<V>(wide, length);
    most = here > most ? here : most;
  }
  return most / 127.0F;
}

/// The nearest integer, ties to even, for |x| < 2^22.
LAYARD_INLINE int round_to_int(float x) {
  return static_cast<int>((x + 12582912.0F) - 12582912.0F);
}

/// Calls put(i, value) for each quantised element of a column of weights; returns its scale.
template <class V, class Put>
LAYARD_INLINE float quantize_column(const void* row, ElementType type, std::size_t k,
                                    const Put& put) {
  const float scale = column_scale<V>(row, type, k);
  const float factor = scale > 0 ? 1.0F / scale : 0.0F;
  const auto* bytes = static_cast<const unsigned char*>(row);
  float wide[kPackStep];
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen<V>(bytes + first * element_bytes(type), type, length, wide);
    for (std::size_t i = 0; i < length; ++i) {
      const int value = round_to_int(wide[i] * factor);
      put(first + i, value > 127 ? 127 : value < -127 ? -127 : value);
    }
  }
  return scale;
}

template <class T>
void pack_int8_panel(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  auto* scales = reinterpret_cast<float*>(out);
  auto* corrections = reinterpret_cast<std::int32_t*>(scales + kPanel);
  auto* bytes = reinterpret_cast<std::int8_t*>(corrections + kPanel);
  __builtin_memset(out, 0, int8_panel_bytes<T>(k));
  for (std::size_t c = 0; c < kPanel; ++c) {
    if (rows[c] == nullptr) continue;
    std::int32_t sum = 0;
    scales[c] = quantize_column<V>(rows[c], type, k, [&](std::size_t i, int value) {
      bytes[(i / kByteGroup * kPanel + c) * kByteGroup + i % kByteGroup] =
          static_cast<std::int8_t>(value);
      sum += value;
    });
    corrections[c] = -V::kByteOffset * sum;
  }
}

LAYARD_INLINE std::size_t int8_row_bytes(std::size_t k) {
  return kRowHeaderBytes + round_up(k, 64);
}
template <class T>
std::size_t int8_operand_bytes(std::size_t rows, std::size_t k) {
  return rows * int8_row_bytes(k);
}

template <class T>
void prepare_int8_row(const float* row, std::size_t k, std::size_t index, std::byte* operands) {
  using V = typename T::V;
  std::byte* operand = operands + index * int8_row_bytes(k);
  const float scale = row_scale<V>(row, k, V::kByteMax);
  *reinterpret_cast<float*>(operand) = scale;
  quantize<V>(row, k, round_up(k, 64), scale, V::kByteOffset,
              reinterpret_cast<std::uint8_t*>(operand) + kRowHeaderBytes);
}

/// Where the sums of a tile start: row r at from + r * ld.
struct StartSums {
  const std::int32_t* from;
  std::size_t ld;
};

/// tile[r][c] = start[r][c] + sum over groups of four bytes.
template <class T, std::size_t kRows>
__attribute__((noinline)) void int8_tile(const std::byte* a, std::size_t stride, const std::byte* b,
                                         std::size_t groups, const StartSums& start,
                                         std::int32_t* tile, const std::byte* ahead) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  typename V::IntReg sum[kRows][kPanelVectors];
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      sum[r][v] = V::load_ints(start.from + r * start.ld + v * V::kWidth);
    }
  }
  for (std::size_t i = 0; i < groups; ++i) {
    const typename V::IntReg b0 = V::load_ints(b);
    const typename V::IntReg b1 = V::load_ints(b + V::kWidth * kByteGroup);
    LAYARD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const typename V::IntReg x = V::repeat_bytes(a + r * stride);
      sum[r][0] = V::dot_bytes(sum[r][0], x, b0);
      sum[r][1] = V::dot_bytes(sum[r][1], x, b1);
    }
    __builtin_prefetch(ahead + i * 64, 0, 2);
    a += kByteGroup;
    b += kPanel * kByteGroup;
  }
  LAYARD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      V::store_ints(tile + r * kPanel + v * V::kWidth, sum[r][v]);
    }
  }
}

template <class T, class Rows>
struct Int8TileTable;
template <class T, std::size_t... kIndex>
struct Int8TileTable<T, std::index_sequence<kIndex...>> {
  static constexpr decltype(&int8_tile<T, 1>) kByRows[] = {&int8_tile<T, kIndex + 1>...};
};

/// Integer sums times the scales of row and column, as floats.
template <class V>
struct ScaledSums {
  const std::int32_t* tile;
  std::size_t ld;
  const std::byte* rows;  ///< prepared row of the tile's first row: its scale comes first
  std::size_t row_stride;
  const float* column_scales;
  LAYARD_INLINE typename V::Reg at(std::size_t row, std::size_t vector) const {
    const float scale = *reinterpret_cast<const float*>(rows + row * row_stride);
    const typename V::Reg both =
        V::mul(V::set1(scale), V::load(column_scales + vector * V::kWidth));
    return V::mul(V::to_floats(V::load_ints(tile + row * ld + vector * V::kWidth)), both);
  }
};

template <class T>
class Int8Product {
 public:
  using V = typename T::V;
  using Sum = std::int32_t;
  using Cut = TileCut;
  static constexpr std::size_t kPanel = panel_width<T>();
  static constexpr std::size_t kTileRows = T::kTileRows;
  static constexpr std::size_t kBlockRows = T::kBlockRows;
  static constexpr std::size_t kGroup = T::kGroup;
  static constexpr std::size_t kChunk = 4 * T::kChunk;
  static constexpr std::size_t kChunkBytes = 0;
  static_assert(kChunk % kByteGroup == 0);

  explicit Int8Product(const GemmArgs& args)
      : args_(args),
        panel_bytes_(int8_panel_bytes<T>(args.w.k)),
        row_bytes_(int8_row_bytes(args.w.k)) {}

  LAYARD_INLINE const std::byte* stored(std::size_t p, std::size_t first) const {
    return panel(p) + kHeaderBytes + first * kPanel;
  }
  LAYARD_INLINE const std::byte* chunk(const std::byte* panel, std::size_t, std::byte*) const {
    return panel;
  }
  LAYARD_INLINE void tile(std::size_t row, std::size_t height, IndexRange depth, const std::byte* b,
                          std::int32_t* sums, const std::byte* ahead) const {
    // The first chunk, which follows the panel's header, starts from the column's corrections.
    const StartSums start = depth.begin > 0
                                ? StartSums{sums, kPanel}
                                : StartSums{reinterpret_cast<const std::int32_t*>(b) - kPanel, 0};
    const std::size_t groups = (depth.end - depth.begin + kByteGroup - 1) / kByteGroup;
    Table::kByRows[height - 1](args_.a + row * row_bytes_ + kRowHeaderBytes + depth.begin,
                               row_bytes_, b, groups, start, sums, ahead);
  }
  LAYARD_INLINE void finish(std::size_t row, std::size_t height, std::size_t p,
                            const std::int32_t* sums) const {
    const ScaledSums<V> scaled{sums, kPanel, args_.a + row * row_bytes_, row_bytes_,
                               reinterpret_cast<const float*>(panel(p))};
    finish_tile<T>(args_, row, height, p, scaled);
  }

 private:
  using Table = Int8TileTable<T, std::make_index_sequence<T::kTileRows>>;
  static constexpr std::size_t kHeaderBytes = kPanel * (sizeof(float) + sizeof(std::int32_t));

  LAYARD_INLINE const std::byte* panel(std::size_t p) const {
    return args_.w.panels + p * panel_bytes_;
  }

  const GemmArgs& args_;
  std::size_t panel_bytes_;
  std::size_t row_bytes_;
};

template <class T>
constexpr LinearKernels int8_kernels(std::string_view name) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = panel_width<T>();
  linear.panels_per_call = T::kGroup;
  linear.panel_bytes = &int8_panel_bytes<T>;
  linear.pack_panel = &pack_int8_panel<T>;
  linear.operand_bytes = &int8_operand_bytes<T>;
  linear.prepare = &prepare_int8_row<T>;
  linear.scratch_bytes = &gemm_scratch_bytes<Int8Product<T>>;
  linear.gemm = &gemm<Int8Product<T>>;
  return linear;
}

}  // namespace
}  // namespace layard::kernels
