// exp, erf, GELU, norms, softmax, rotation and widening against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/test_tables.h"

namespace layard::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
using Function = void (*)(const float*, std::size_t, float*);

std::vector<float> apply(Function function, const std::vector<float>& x) {
  std::vector<float> out(x.size());
  function(x.data(), x.size(), out.data());
  return out;
}

std::vector<float> grid(double low, double high, std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) /
                                        static_cast<double>(count - 1));
  }
  return x;
}

TEST(Kernels, ExpStaysWithinItsBound) {
  const std::vector<float> x = grid(-87.0, 88.0, 700001);
  for (const KernelTable* table : test_tables()) {
    const std::vector<float> got = apply(table->exp, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp(static_cast<double>(x[i]));
      worst = std::max(worst, std::fabs(got[i] - exact) / exact);
    }
    EXPECT_LE(worst, 2e-7) << table->name;
  }
}

TEST(Kernels, ExpAtItsEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const KernelTable* table : test_tables()) {
    const std::vector<float> got =
        apply(table->exp, {0.0F, -87.5F, -1e30F, -infinity, 1e30F, infinity, kNan, -0.0F});
    EXPECT_EQ(got[0], 1.0F);
    for (const std::size_t i : {1, 2, 3}) EXPECT_EQ(got[i], 0.0F) << table->name << i;
    for (const std::size_t i : {4, 5}) EXPECT_GT(got[i], 1e38F) << table->name;
    EXPECT_TRUE(std::isnan(got[6])) << table->name;
    EXPECT_EQ(got[7], 1.0F);
  }
}

TEST(Kernels, ErfAndGeluStayWithinTheirBounds) {
  const std::vector<float> x = grid(-9.0, 9.0, 900001);
  for (const KernelTable* table : test_tables()) {
    const std::vector<float> erf = apply(table->erf, x);
    const std::vector<float> gelu = apply(table->gelu, x);
    double worst_erf = 0;
    double worst_gelu = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i];
      worst_erf = std::max(worst_erf, std::fabs(erf[i] - std::erf(v)));
      const double exact = 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0)));
      worst_gelu = std::max(worst_gelu, std::fabs(gelu[i] - exact) / std::max(1.0, std::fabs(v)));
    }
    EXPECT_LE(worst_erf, 2e-7) << table->name;
    EXPECT_LE(worst_gelu, 2.5e-7) << table->name;
    EXPECT_TRUE(std::isnan(apply(table->gelu, {kNan})[0])) << table->name;
  }
}

TEST(Kernels, EmulatedFunctionsEqualAvx512Bits) {
  const KernelTable* real = find_kernels(Isa::kAvx512);
  if (real == nullptr) GTEST_SKIP() << "this processor has no AVX-512";
  const std::vector<float> x = random_floats(1003, 5, 12.0F);
  EXPECT_TRUE(same_bits(apply(real->exp, x), apply(kEmulated512.exp, x)));
  EXPECT_TRUE(same_bits(apply(real->erf, x), apply(kEmulated512.erf, x)));
  EXPECT_TRUE(same_bits(apply(real->gelu, x), apply(kEmulated512.gelu, x)));
  std::vector<float> a = x;
  std::vector<float> b = x;
  real->softmax(0.25F, a.size(), a.data());
  kEmulated512.softmax(0.25F, b.size(), b.data());
  EXPECT_TRUE(same_bits(a, b));
  EXPECT_EQ(real->dot(x.data(), a.data(), 1003), kEmulated512.dot(x.data(), a.data(), 1003));
}

void check_norm(const KernelTable& table, std::size_t n, bool bias, bool in_place) {
  std::vector<float> x = random_floats(n, 7);
  for (float& value : x) value += 3.0F;  // a mean far from zero
  const std::vector<float> weight = random_floats(n, 8);
  const std::vector<float> shift = random_floats(n, 9);
  double mean = 0;
  for (const float value : x) mean += value;
  mean /= static_cast<double>(n);
  double variance = 0;
  for (const float value : x) variance += (value - mean) * (value - mean);
  variance /= static_cast<double>(n);
  const std::vector<float> original = x;
  std::vector<float> out(n + 1, 77.0F);
  float* target = in_place ? x.data() : out.data();
  table.layer_norm({weight.data(), bias ? shift.data() : nullptr, 1e-5F, n}, x.data(), target);
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = (original[i] - mean) / std::sqrt(variance + 1e-5F) * weight[i] +
                            (bias ? static_cast<double>(shift[i]) : 0.0);
    ASSERT_NEAR(target[i], expected, 2e-4) << table.name << " n " << n;  // n = 1: no variance
  }
  EXPECT_EQ(out[n], 77.0F);
}

TEST(Kernels, LayerNormEveryLength) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t n = 1; n <= 150; ++n) check_norm(*table, n, n % 2 == 0, n % 3 == 0);
    for (const std::size_t n : {384, 768, 1024}) check_norm(*table, n, true, false);
  }
}

TEST(Kernels, SoftmaxEveryLength) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t n = 1; n <= 150; ++n) {
      std::vector<float> row = random_floats(n, 11, 30.0F);
      const std::vector<float> z = row;
      row.push_back(5.0F);
      table->softmax(0.5F, n, row.data());
      const double most = *std::max_element(z.begin(), z.end());
      double total = 0;
      for (const float value : z) total += std::exp(0.5 * (value - most));
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = std::exp(0.5 * (z[i] - most)) / total;
        ASSERT_NEAR(row[i], expected, 5e-6 * expected + 1e-30) << table->name << " n " << n;
      }
      EXPECT_EQ(row[n], 5.0F);
    }
  }
}

TEST(Kernels, SoftmaxOfExtremes) {
  for (const KernelTable* table : test_tables()) {
    std::vector<float> row = {1e4F, -1e4F, 0.0F};
    table->softmax(1.0F, row.size(), row.data());
    EXPECT_EQ(row, (std::vector<float>{1.0F, 0.0F, 0.0F}));
    row = {1.0F, kNan, 2.0F};
    table->softmax(1.0F, row.size(), row.data());
    for (const float value : row) EXPECT_TRUE(std::isnan(value)) << table->name;
    table->softmax(1.0F, 0, nullptr);
  }
}

TEST(Kernels, DotAndAddEveryLength) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t n = 0; n <= 150; ++n) {
      const std::vector<float> x = random_floats(n + 1, 12);
      const std::vector<float> y = random_floats(n + 1, 13);
      double expected = 0;
      for (std::size_t i = 0; i < n; ++i) expected += static_cast<double>(x[i]) * y[i];
      ASSERT_NEAR(table->dot(x.data(), y.data(), n), expected, 1e-5) << table->name;
      std::vector<float> sum = x;
      table->add(y.data(), n, sum.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sum[i], x[i] + y[i]);
      ASSERT_EQ(sum[n], x[n]);
    }
  }
}

TEST(Kernels, RopeTurnsHalves) {
  for (const KernelTable* table : test_tables()) {
    for (const std::size_t half : {1, 2, 4, 7, 8, 16, 32, 33}) {
      constexpr std::size_t kHeads = 3;
      const std::vector<float> angle = random_floats(half, 14, 3.0F);
      std::vector<float> cosine(half);
      std::vector<float> sine(half);
      for (std::size_t i = 0; i < half; ++i) {
        cosine[i] = std::cos(angle[i]);
        sine[i] = std::sin(angle[i]);
      }
      const std::vector<float> before = random_floats(kHeads * 2 * half, 15);
      std::vector<float> x = before;
      table->rope(cosine.data(), sine.data(), half, kHeads, x.data());
      for (std::size_t h = 0; h < kHeads; ++h) {
        for (std::size_t i = 0; i < half; ++i) {
          const double low = before[h * 2 * half + i];
          const double high = before[h * 2 * half + half + i];
          ASSERT_NEAR(x[h * 2 * half + i], low * cosine[i] - high * sine[i], 3e-7);
          ASSERT_NEAR(x[h * 2 * half + half + i], high * cosine[i] + low * sine[i], 3e-7);
        }
      }
    }
  }
}

float float16_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VALF : kNan;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

TEST(Kernels, WidensEveryHalf) {
  std::vector<std::uint16_t> bits(65536 + 3);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> out(bits.size());
  for (const KernelTable* table : test_tables()) {
    table->widen(bits.data(), ElementType::kFloat16, bits.size(), out.data());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const float expected = float16_value(bits[i]);
      ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected)))
          << table->name << " " << i;
      ASSERT_EQ(std::signbit(out[i]), (bits[i] & 0x8000) != 0);
    }
    table->widen(bits.data(), ElementType::kBFloat16, bits.size(), out.data());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), static_cast<std::uint32_t>(bits[i]) << 16);
    }
  }
}

TEST(Kernels, WidensFromOddAddresses) {
  std::vector<unsigned char> bytes(1 + 4 * 37);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>((i * 29 + 1) & 0x3F);
  }
  const void* odd = &bytes[1];
  for (const KernelTable* table : test_tables()) {
    for (const ElementType type :
         {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
      std::vector<unsigned char> aligned(bytes.begin() + 1, bytes.end());
      std::vector<float> got(37);
      std::vector<float> expected(37);
      table->widen(odd, type, got.size(), got.data());
      table->widen(aligned.data(), type, expected.size(), expected.data());
      EXPECT_TRUE(same_bits(got, expected)) << table->name;
    }
  }
}

TEST(Kernels, PacksEveryElementType) {
  constexpr std::size_t kDepth = 131;
  for (const KernelTable* table : test_tables()) {
    const std::size_t width = table->exact().panel_columns;
    std::vector<std::uint16_t> halves(width * kDepth);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      halves[i] = static_cast<std::uint16_t>((i * 7919) & 0x7BFF);
    }
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
      std::vector<const void*> rows(width);
      for (std::size_t c = 0; c + 1 < width; ++c) rows[c] = &halves[c * kDepth];
      std::vector<float> panel(width * kDepth, kNan);
      table->exact().pack_panel(rows.data(), type, kDepth,
                                reinterpret_cast<std::byte*>(panel.data()));
      std::vector<float> wide(kDepth);
      for (std::size_t c = 0; c < width; ++c) {
        std::fill(wide.begin(), wide.end(), 0.0F);  // the last row is null
        if (rows[c] != nullptr) table->widen(rows[c], type, kDepth, wide.data());
        for (std::size_t i = 0; i < kDepth; ++i) ASSERT_EQ(panel[i * width + c], wide[i]);
      }
    }
  }
}

}  // namespace
}  // namespace layard::kernels
