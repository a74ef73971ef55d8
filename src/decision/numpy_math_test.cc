#include "decision/numpy_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace layard::decision {
namespace {

// Recorded by tests/fixtures/rounding/make_numpy_checks.py.
constexpr std::uint64_t kExpHash = 0xD55F72D7AFB45B96;
constexpr std::uint64_t kLogHash = 0x1164E7DF85C101DF;

std::uint64_t add_hash(std::uint64_t hash, float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i, bits >>= 8) hash = (hash ^ (bits & 0xFF)) * 0x100000001B3;
  return hash;
}

TEST(NumpyMath, ExpIsBitEqualOver65536Inputs) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (int i = 0; i < 65536; ++i) {
    hash = add_hash(hash, numpy_exp(-static_cast<float>(i) * 13.0F / 8192.0F));
  }
  EXPECT_EQ(hash, kExpHash);
}

TEST(NumpyMath, LogIsBitEqualOver65536Inputs) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (int i = 0; i < 65536; ++i) {
    hash = add_hash(hash, numpy_log(static_cast<float>(i + 1) / 65536.0F));
  }
  EXPECT_EQ(hash, kLogHash);
}

TEST(NumpyMath, ExpEnds) {
  EXPECT_EQ(numpy_exp(0.0F), 1.0F);
  EXPECT_EQ(numpy_exp(-104.0F), 0.0F);
  EXPECT_EQ(numpy_exp(-3.0e38F), 0.0F);
  EXPECT_EQ(numpy_exp(-INFINITY), 0.0F);
  EXPECT_NEAR(numpy_log(1e-12F), std::log(1e-12F), 4e-6F);
}

struct SumRow {
  int count;
  float single;
  double twice;
};

// Below 8 in order; at 8, 9, 15 to 17 the eight lanes and their rest; 128 and 129 the block edge.
constexpr SumRow kSums[] = {
    {0, 0x0.0p+0F, 0x0.0p+0},
    {1, 0x1.5555560000000p-2F, 0x1.5555555555555p-2},
    {7, 0x1.5437460000000p+0F, 0x1.5437437437437p+0},
    {8, 0x1.6dd0de0000000p+0F, 0x1.6dd0dd0dd0dd0p+0},
    {9, 0x1.8516b00000000p+0F, 0x1.8516ae822df44p+0},
    {15, 0x1.f086880000000p+0F, 0x1.f086839d9dc95p+0},
    {16, 0x1.febf680000000p+0F, 0x1.febf672bd6ad0p+0},
    {17, 0x1.061c560000000p+1F, 0x1.061c554513c25p+1},
    {100, 0x1.da81b00000000p+1F, 0x1.da81ad52b9b72p+1},
    {127, 0x1.f86f620000000p+1F, 0x1.f86f612293752p+1},
    {128, 0x1.f96b740000000p+1F, 0x1.f96b70e38f84dp+1},
    {129, 0x1.fa65980000000p+1F, 0x1.fa65941081d6fp+1},
    {136, 0x1.0084860000000p+2F, 0x1.0084843685eebp+2},
    {255, 0x1.2835060000000p+2F, 0x1.283504d2ee7e2p+2},
    {256, 0x1.2874880000000p+2F, 0x1.287485d0f2762p+2},
    {300, 0x1.3283da0000000p+2F, 0x1.3283d93b7feebp+2},
    {1000, 0x1.7f32ae0000000p+2F, 0x1.7f32ac6b16780p+2},
    {5000, 0x1.e612fc0000000p+2F, 0x1.e612fc141c75cp+2},
};

TEST(NumpyMath, SumIsPairwise) {
  for (const SumRow& row : kSums) {
    std::vector<float> single;
    std::vector<double> twice;
    for (int i = 0; i < row.count; ++i) {
      single.push_back(1.0F / (static_cast<float>(i) + 3.0F));
      twice.push_back(1.0 / (static_cast<double>(i) + 3.0));
    }
    EXPECT_EQ(numpy_sum(std::span<const float>(single)), row.single) << row.count;
    EXPECT_EQ(numpy_sum(std::span<const double>(twice)), row.twice) << row.count;
  }
}

TEST(NumpyMath, SumInOrderWouldDiffer) {
  std::vector<float> values;
  float in_order = 0;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(1.0F / (static_cast<float>(i) + 3.0F));
    in_order += values.back();
  }
  EXPECT_NE(numpy_sum(std::span<const float>(values)), in_order);
}

}  // namespace
}  // namespace layard::decision
