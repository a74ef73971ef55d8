/// Element types, shapes, and views of tensors that live elsewhere; no arithmetic.
///
/// Invariants: a TensorView never owns; bytes are little-endian, row-major, without gaps.
/// Thread-safety: plain values; a view is as safe as the memory it points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace layard::tensor {

enum class DType : std::uint8_t { kFloat32, kFloat16, kBFloat16 };

/// Bytes of one element.
constexpr std::size_t dtype_bytes(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

/// `float32`, `float16`, `bfloat16`.
std::string_view dtype_name(DType dtype);

using Shape = std::vector<std::int64_t>;

/// Product of the dimensions (1 for a scalar). REQUIRES: no overflow (checked when files are read).
std::size_t element_count(const Shape& shape);

/// A tensor somewhere in memory, normally in a mapped checkpoint.
struct TensorView {
  DType dtype = DType::kFloat32;
  Shape shape;
  const std::byte* data = nullptr;

  std::size_t size() const { return element_count(shape); }
};

/// Exact widening of one 16-bit float.
float float16_to_float(std::uint16_t bits) noexcept;
float bfloat16_to_float(std::uint16_t bits) noexcept;
/// Nearest float16, ties to even; overflow becomes infinity.
std::uint16_t float_to_float16(float value) noexcept;

/// Element `index` as float32.
float element(const TensorView& view, std::size_t index) noexcept;

/// Widens elements [first, first + out.size()) into `out`.
void to_float(const TensorView& view, std::size_t first, std::span<float> out) noexcept;

/// Index of the first NaN or infinity, or size() when all are finite.
std::size_t first_non_finite(const TensorView& view) noexcept;

}  // namespace layard::tensor
