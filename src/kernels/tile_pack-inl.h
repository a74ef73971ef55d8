/// Rows of A and panels of weights in the layouts of tile_modes-inl.h.
#pragma once

#include "kernels/tile_modes-inl.h"

namespace layard::kernels {
namespace {

/// One row of A as bfloat16, in one or three parts, zeros after it.
template <class U, class M>
void prepare_bfloat16_row(const float* row, std::size_t k, std::size_t index, std::byte* operands) {
  std::byte* out = operands + index / kTileRowsMax * row_block_bytes<M>(k) +
                   index % kTileRowsMax * kTileRowBytes;
  for (std::size_t i = 0; i < k; i += M::kStep, out += M::kParts * kTileBytes) {
    float tail[M::kStep] = {};
    const float* from = row + i;
    if (k - i < M::kStep) {  // never past the row's end
      for (std::size_t j = 0; j < k - i; ++j) tail[j] = row[i + j];
      from = tail;
    }
    if constexpr (M::kParts == 3) {
      U::split_row(from, out, kTileBytes);
    } else {
      U::round_row(from, out);
    }
  }
}

template <class V>
void prepare_tile_int8_row(const float* row, std::size_t k, std::size_t index,
                           std::byte* operands) {
  std::byte* header = operands + index / kTileRowsMax * row_block_bytes<Int8Mode>(k) +
                      index % kTileRowsMax * kRowHeaderBytes;
  static_assert(kRowHeaderBytes == kTileRowBytes);  // so that tiles lie like headers
  const float scale = row_scale<V>(row, k, 127);
  *reinterpret_cast<float*>(header) = scale / kRotationGain;
  std::byte* out = header + kTileBytes;
  for (std::size_t i = 0; i < k; i += Int8Mode::kStep, out += kTileBytes) {
    static_assert(Int8Mode::kStep == kRotation);
    quantize_block<V>(row + i, k - i, scale, 0, reinterpret_cast<std::uint8_t*>(out));
  }
}

/// Panel of bfloat16 tiles: step, tile, pair of k, column, the pair's two elements.
template <class V>
void pack_bfloat16_tiles(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  auto* panel = reinterpret_cast<std::uint16_t*>(out);
  __builtin_memset(out, 0, tile_panel_bytes<BFloat16Mode>(k));
  float wide[kTilePanel][kPackStep] = {};
  for (std::size_t first = 0; first < k; first += kPackStep) {
    const std::size_t length = k - first < kPackStep ? k - first : kPackStep;
    widen_rows<V>(rows, type, first, length, wide);
    for (std::size_t c = 0; c < kTilePanel; ++c) {
      for (std::size_t i = first; i < first + length; ++i) {
        const std::size_t tile = i / BFloat16Mode::kStep * 2 + c / 16;
        panel[tile * 512 + i % 32 / 2 * 32 + c % 16 * 2 + i % 2] =
            round_bfloat16(wide[c][i - first]);
      }
    }
  }
}

/// Panel of float16 [k][32], k padded with zeros to whole steps.
template <class T>
void pack_split_panel(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  pack_panel<T, AsFloat16>(rows, type, k, out);
  const std::size_t used = k * kTilePanel * sizeof(std::uint16_t);
  __builtin_memset(out + used, 0, tile_panel_bytes<SplitMode>(k) - used);
}

/// Panel of int8 tiles: scales, then step, tile, group of four k, column, the group's four bytes.
template <class V>
void pack_int8_tiles(const void* const* rows, ElementType type, std::size_t k, std::byte* out) {
  __builtin_memset(out, 0, tile_panel_bytes<Int8Mode>(k));
  auto* scales = reinterpret_cast<float*>(out);
  auto* bytes = reinterpret_cast<std::int8_t*>(out + panel_header<Int8Mode>());
  for (std::size_t c = 0; c < kTilePanel; ++c) {
    if (rows[c] == nullptr) continue;
    std::int8_t* column = bytes + c / 16 * kTileBytes + c % 16 * 4;
    scales[c] = quantize_column<V>(rows[c], type, k, [&](std::size_t i, int value) {
      column[i / 64 * 2 * kTileBytes + i % 64 / 4 * kTileRowBytes + i % 4] =
          static_cast<std::int8_t>(value);
    });
  }
}

}  // namespace
}  // namespace layard::kernels
