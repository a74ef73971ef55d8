#include "backends/cpu/rope_table.h"

#include <gtest/gtest.h>

namespace layard::backends::cpu {
namespace {

void check(double theta, std::size_t position, std::size_t pair, double cosine, double sine) {
  RopeTable table(theta, 64);
  table.ensure(position + 1);
  EXPECT_NEAR(table.cosine(position)[pair], cosine, 2e-6);
  EXPECT_NEAR(table.sine(position)[pair], sine, 2e-6);
}

// Angles of the two bases of ModernBERT at position 100, pair 8 of head size 64: 5 and 10.
TEST(RopeTable, BaseOfTheLayerKind) {
  check(160000.0, 100, 8, 0.283662, -0.958924);
  check(10000.0, 100, 8, -0.839072, -0.544021);
  check(10000.0, 0, 31, 1.0, 0.0);
  check(160000.0, 1, 0, 0.540302, 0.841471);
}

TEST(RopeTable, GrowsWithoutChangingWhatWasThere) {
  RopeTable table(10000.0, 16);
  table.ensure(3);
  const float before = table.sine(2)[3];
  const std::size_t first = table.positions();
  EXPECT_GE(first, 3U);
  table.ensure(first + 1);
  EXPECT_GE(table.positions(), 2 * first);
  EXPECT_EQ(table.sine(2)[3], before);
  RopeTable at_once(10000.0, 16);
  at_once.ensure(first + 1);
  for (std::size_t j = 0; j < table.half(); ++j) {
    EXPECT_EQ(table.cosine(first)[j], at_once.cosine(first)[j]);
  }
}

}  // namespace
}  // namespace layard::backends::cpu
