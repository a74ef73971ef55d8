#include "tokenizer/model/bpe/seams.h"

#include <gtest/gtest.h>

namespace layard::tokenizer {
namespace {

// a b c are 0 1 2; ab is 3, abc is 4.
TEST(Seams, KnowWhichNeighboursATokenHolds) {
  Seams seams;
  // The longer token first: the order of the file does not matter.
  seams.build({{3, 2, 4, 3}, {0, 1, 3, 2}}, {true, true, true, false, false});
  EXPECT_TRUE(seams.joins(0, 1));
  EXPECT_TRUE(seams.joins(1, 2));
  EXPECT_FALSE(seams.joins(2, 0));
  EXPECT_FALSE(seams.joins(0, 2));
  EXPECT_FALSE(seams.joins(1, 0));
}

TEST(Seams, LeaveOutRulesThatNeverApply) {
  Seams seams;
  // Nothing makes 3, so nothing makes 4.
  seams.build({{3, 2, 4, 3}}, {true, true, true, false, false});
  EXPECT_FALSE(seams.joins(1, 2));
}

TEST(Seams, JoinEverythingWhenInDoubt) {
  Seams seams;
  EXPECT_TRUE(seams.joins(0, 1));
  // Two ways to one symbol that begin differently.
  seams.build({{0, 1, 3, 2}, {2, 1, 3, 2}}, {true, true, true, false});
  EXPECT_TRUE(seams.joins(1, 0));
}

}  // namespace
}  // namespace layard::tokenizer
