#include "base/number_text.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

TEST(NumberText, DigitsAfterThePoint) {
  EXPECT_EQ(fixed(0.8234, 3), "0.823");
  EXPECT_EQ(fixed(-2.0, 0), "-2");
  EXPECT_EQ(fixed(1e6, 1), "1000000.0");
  EXPECT_EQ(fixed(1e300, 2).size(), 47U) << "bounded";
}

TEST(NumberText, PercentOfAShare) {
  EXPECT_EQ(percent(0.8234), "82.3%");
  EXPECT_EQ(percent(1), "100.0%");
}

TEST(NumberText, RightAligned) {
  EXPECT_EQ(right_aligned("ab", 5), "   ab");
  EXPECT_EQ(right_aligned("ab", 2), "ab");
  EXPECT_EQ(right_aligned("abc", 2), "abc");
}

}  // namespace
}  // namespace layard::base
