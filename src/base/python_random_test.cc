// Expected numbers: CPython 3.11, random.Random.
#include "base/python_random.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::base {
namespace {

TEST(PythonRandom, Uniform) {
  PythonRandom random(11);
  EXPECT_EQ(random.uniform(), 0.4523795535098186);
  EXPECT_EQ(random.uniform(), 0.559772386080496);
  EXPECT_EQ(random.uniform(), 0.9242105840237294);
  PythonRandom later(3);  // beyond one block of the generator
  for (int i = 0; i < 1000; ++i) later.uniform();
  EXPECT_EQ(later.uniform(), 0.20235759117000895);
}

TEST(PythonRandom, Below) {
  PythonRandom random(0);
  for (const std::uint32_t expected : {6, 3, 6, 3, 0, 2, 4, 3, 3, 6, 6, 2}) {
    EXPECT_EQ(random.below(7), expected);
  }
}

TEST(PythonRandom, SeedsBeyond32Bits) {
  PythonRandom random((std::uint64_t{1} << 40U) + 5);
  for (const std::uint32_t expected : {2166296868U, 2220160828U, 1153647273U}) {
    EXPECT_EQ(random.bits(32), expected);
  }
}

TEST(PythonRandom, BetweenAndBits) {
  PythonRandom random(7);
  for (const std::int64_t expected : {6305, 3471, 7468, 1791, 2186}) {
    EXPECT_EQ(random.between(1000, 9999), expected);
  }
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_EQ(random.bits(1), 1U);
  EXPECT_EQ(random.bits(13), 475U);
}

}  // namespace
}  // namespace layard::base
