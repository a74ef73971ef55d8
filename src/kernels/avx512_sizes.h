/// Sizes that every target with 32 registers of 16 floats has: 14 x 32 tiles, 28 registers of sums.
#pragma once

#include <cstddef>

namespace layard::kernels {

/// What gemm-inl.h asks of a target, but for its vectors.
struct Avx512Sizes {
  static constexpr std::size_t kTileRows = 14;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kBlockRows = 504;
  static constexpr std::size_t kGroup = 8;
};

}  // namespace layard::kernels
