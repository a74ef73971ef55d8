/// Sizes for 32 registers of 4 floats: 8 x 8 tiles, 16 registers of sums.
#pragma once

#include <cstddef>

namespace layard::kernels {

/// What gemm-inl.h asks of a target, but for its vectors.
struct NeonSizes {
  static constexpr std::size_t kTileRows = 8;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 192;
  static constexpr std::size_t kGroup = 8;
};

}  // namespace layard::kernels
