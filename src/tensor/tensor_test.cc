#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace layard::tensor {
namespace {

TEST(Tensor, Float16RoundTripsEveryPattern) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = float16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(float_to_float16(value), bits);
  }
}

TEST(Tensor, Float16RoundsToEven) {
  EXPECT_EQ(float16_to_float(float_to_float16(2049.0F)), 2048.0F);
  EXPECT_EQ(float16_to_float(float_to_float16(2051.0F)), 2052.0F);
  EXPECT_TRUE(std::isinf(float16_to_float(float_to_float16(65520.0F))));
  EXPECT_EQ(float16_to_float(float_to_float16(65519.0F)), 65504.0F);
  EXPECT_EQ(float_to_float16(0x1p-25F), 0);
  EXPECT_EQ(float_to_float16(0x1.8p-25F), 1);
}

TEST(Tensor, ViewsWiden) {
  const std::uint16_t half[] = {0x3C00, 0xC000, 0x7C00};
  TensorView view{DType::kFloat16, {3}, reinterpret_cast<const std::byte*>(half)};
  EXPECT_EQ(element(view, 1), -2.0F);
  EXPECT_EQ(first_non_finite(view), 2U);
  view.dtype = DType::kBFloat16;
  EXPECT_EQ(element(view, 0), 0x1.0p-7F * 0 + bfloat16_to_float(0x3C00));
  const float full[] = {1.5F, -0.25F};
  const TensorView floats{DType::kFloat32, {2, 1}, reinterpret_cast<const std::byte*>(full)};
  float out[2];
  to_float(floats, 0, out);
  EXPECT_EQ(out[1], -0.25F);
  EXPECT_EQ(first_non_finite(floats), 2U);
  EXPECT_EQ(dtype_name(DType::kBFloat16), "bfloat16");
}

}  // namespace
}  // namespace layard::tensor
