/// The signs of the rotation that int8 rows and weights go through (rotation-inl.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace layard::kernels {

/// Elements of k that are rotated together.
constexpr std::size_t kRotation = 64;

/// +1 or -1 for element i of a block: the bits of an arbitrary irregular number.
constexpr float rotation_sign(std::size_t i) {
  constexpr std::uint64_t kBits = 0x9E3779B97F4A7C15U;
  return (kBits >> i & 1U) != 0 ? -1.0F : 1.0F;
}

}  // namespace layard::kernels
