#include "tensor/tensor.h"

#include <bit>
#include <cstring>

namespace layard::tensor {
namespace {

template <class T>
T load(const std::byte* data, std::size_t index) noexcept {
  T value{};
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      break;
  }
  return "bfloat16";
}

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t dimension : shape) count *= static_cast<std::size_t>(dimension);
  return count;
}

float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

float float16_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  }
  // Subnormal: mantissa * 2^-24 is exact in float32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t float_to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return sign | 0x7E00U;
  if (magnitude >= 0x477FF000U) return sign | 0x7C00U;  // rounds to 65536 or more
  if (magnitude < 0x38800000U) {
    // Subnormal result: adding 0.5 aligns the mantissa so that the hardware rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

float element(const TensorView& view, std::size_t index) noexcept {
  switch (view.dtype) {
    case DType::kFloat32:
      return load<float>(view.data, index);
    case DType::kFloat16:
      return float16_to_float(load<std::uint16_t>(view.data, index));
    case DType::kBFloat16:
      break;
  }
  return bfloat16_to_float(load<std::uint16_t>(view.data, index));
}

void to_float(const TensorView& view, std::size_t first, std::span<float> out) noexcept {
  if (view.dtype == DType::kFloat32) {
    std::memcpy(out.data(), view.data + first * sizeof(float), out.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = element(view, first + i);
}

std::size_t first_non_finite(const TensorView& view) noexcept {
  const std::size_t count = view.size();
  for (std::size_t i = 0; i < count; ++i) {
    bool finite = true;
    switch (view.dtype) {
      case DType::kFloat32:
        finite = (load<std::uint32_t>(view.data, i) & 0x7F800000U) != 0x7F800000U;
        break;
      case DType::kFloat16:
        finite = (load<std::uint16_t>(view.data, i) & 0x7C00U) != 0x7C00U;
        break;
      case DType::kBFloat16:
        finite = (load<std::uint16_t>(view.data, i) & 0x7F80U) != 0x7F80U;
        break;
    }
    if (!finite) return i;
  }
  return count;
}

}  // namespace layard::tensor
