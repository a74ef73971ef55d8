/// The matrix product in 8-bit integers, for vector units.
///
/// Rows and columns of weights are padded with zeros to whole blocks of kRotation and rotated
/// (rotation-inl.h), then rounded over one scale each. A prepared row: its scale over kRotationGain
/// (float, then padding to 64 bytes) and a byte per element, the rounded value plus V::kByteOffset,
/// so that they are unsigned. A panel: one scale and one correction (int32: minus kByteOffset times
/// the column's sum) per column, then groups of four bytes of k, [k / 4][panel][4]. Sums are exact
/// int32: |sum| <= k * 127 * 255, hence kInt8DepthMax.
#pragma once

#include "kernels/pack-inl.h"
#include "kernels/rotation-inl.h"

namespace layard::kernels {
namespace {

constexpr std::size_t kRowHeaderBytes = 64;
constexpr std::size_t kByteGroup = 4;

/// k with its zeros.
constexpr std::size_t int8_depth(std::size_t k) { return round_up(k, kRotation); }

/// Largest absolute value of what a row becomes by rotation; NaN where any element is not finite.
template <class V>
LAYARD_INLINE float largest_rotated(const float* x, std::size_t n) {
  typename V::Reg most = V::zero();
  typename V::Reg poison = V::zero();  // 0 * x: NaN where x is not finite, which max() would drop
  const typename V::Reg zero = V::zero();
  for (std::size_t i = 0; i < n; i += kRotation) {
    const RotatedBlock<V> block(x + i, n - i);
    LAYARD_UNROLL
    for (const typename V::Reg& value : block.reg) {
      most = V::max(V::abs(value), most);
      poison = V::fma(value, zero, poison);
    }
  }
  return V::max_of(most) + V::sum(poison);
}

/// The scale by which a rotated row's largest value becomes `max_integer`; NaN where it is not
/// finite.
template <class V>
LAYARD_INLINE float row_scale(const float* x, std::size_t n, int max_integer) {
  return largest_rotated<V>(x, n) / static_cast<float>(max_integer);
}

/// Rotates the block at x, of which `left` elements are there, rounds it over `scale` to integers
/// and stores them plus `offset` as kRotation bytes.
template <class V>
LAYARD_INLINE void quantize_block(const float* x, std::size_t left, float scale, int offset,
                                  std::uint8_t* out) {
  const typename V::Reg factor = V::set1(scale > 0 ? 1.0F / scale : 0.0F);
  const RotatedBlock<V> block(x, left);
  LAYARD_UNROLL
  for (std::size_t r = 0; r < RotatedBlock<V>::kRegs; ++r) {
    V::store_bytes(out + r * V::kWidth, V::mul(block.reg[r], factor), offset);
  }
}

template <class T>
std::size_t int8_panel_bytes(std::size_t k) {
  const std::size_t header = panel_width<T>() * (sizeof(float) + sizeof(std::int32_t));
  return round_up(header + int8_depth(k) * panel_width<T>(), 64);
}

/// Calls visit(first, block) for each rotated block of a column of weights.
template <class V, class Visit>
LAYARD_INLINE void each_column_block(const void* row, ElementType type, std::size_t k,
                                     const Visit& visit) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (std::size_t first = 0; first < k; first += kRotation) {
    const std::size_t length = k - first < kRotation ? k - first : kRotation;
    float wide[kRotation];
    widen<V>(bytes + first * element_bytes(type), type, length, wide);
    visit(first, RotatedBlock<V>(wide, length));
  }
}

/// The nearest integer, ties to even, for |x| < 2^22.
LAYARD_INLINE int round_to_int(float x) {
  return static_cast<int>((x + 12582912.0F) - 12582912.0F);
}

/// Calls put(i, value) for each of the int8_depth(k) quantised elements of a column of weights;
/// returns its scale.
template <class V, class Put>
LAYARD_INLINE float quantize_column(const void* row, ElementType type, std::size_t k,
                                    const Put& put) {
  typename V::Reg most = V::zero();
  each_column_block<V>(row, type, k, [&](std::size_t, const RotatedBlock<V>& block) {
    for (const typename V::Reg& value : block.reg) most = V::max(V::abs(value), most);
  });
  const float scale = V::max_of(most) / 127.0F;
  const float factor = scale > 0 ? 1.0F / scale : 0.0F;
  each_column_block<V>(row, type, k, [&](std::size_t first, const RotatedBlock<V>& block) {
    float rotated[kRotation];
    for (std::size_t r = 0; r < RotatedBlock<V>::kRegs; ++r) {
      V::store(rotated + r * V::kWidth, block.reg[r]);
    }
    for (std::size_t i = 0; i < kRotation; ++i) {
      const int value = round_to_int(rotated[i] * factor);
      put(first + i, value > 127 ? 127 : value < -127 ? -127 : value);
    }
  });
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

LAYARD_INLINE std::size_t int8_row_bytes(std::size_t k) { return kRowHeaderBytes + int8_depth(k); }
template <class T>
std::size_t int8_operand_bytes(std::size_t rows, std::size_t k) {
  return rows * int8_row_bytes(k);
}

template <class T>
void prepare_int8_row(const float* row, std::size_t k, std::size_t index, std::byte* operands) {
  using V = typename T::V;
  std::byte* operand = operands + index * int8_row_bytes(k);
  const float scale = row_scale<V>(row, k, V::kByteMax);
  *reinterpret_cast<float*>(operand) = scale / kRotationGain;
  auto* bytes = reinterpret_cast<std::uint8_t*>(operand) + kRowHeaderBytes;
  for (std::size_t i = 0; i < k; i += kRotation) {
    quantize_block<V>(row + i, k - i, scale, V::kByteOffset, bytes + i);
  }
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
  static constexpr std::size_t kPanel = panel_width<T>();
  static constexpr std::size_t kTileRows = T::kTileRows;
  static constexpr std::size_t kBlockRows = T::kBlockRows;
  static constexpr std::size_t kGroup = T::kGroup;
  static constexpr std::size_t kChunk = 4 * T::kChunk;
  static constexpr std::size_t kChunkBytes = 0;
  static_assert(kChunk % kRotation == 0);

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
    const std::size_t groups = int8_depth(depth.end - depth.begin) / kByteGroup;
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
