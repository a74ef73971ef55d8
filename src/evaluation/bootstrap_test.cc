#include "evaluation/bootstrap.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::evaluation {
namespace {

TEST(Bootstrap, SameEveryTime) {
  std::vector<LineCount> lines;
  for (std::uint32_t i = 0; i < 300; ++i) lines.push_back({i % 3 == 0 ? 0U : 1U, 1});
  const Interval first = accuracy_interval(lines);
  const Interval second = accuracy_interval(lines);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(Bootstrap, IsAsWideAsTheBinomial) {
  // 200 of 300: the normal interval is 2/3 +- 1.96 sqrt(2/9 / 300) = 0.6133 to 0.7200.
  std::vector<LineCount> lines;
  for (std::uint32_t i = 0; i < 300; ++i) lines.push_back({i % 3 == 0 ? 0U : 1U, 1});
  const Interval found = accuracy_interval(lines);
  EXPECT_NEAR(found.low, 0.6133, 0.01);
  EXPECT_NEAR(found.high, 0.7200, 0.01);
}

TEST(Bootstrap, QuestionsOfOneLineGoTogether) {
  // Ten lines of 100 questions that are all right or all wrong say as little as ten questions.
  std::vector<LineCount> together;
  std::vector<LineCount> apart;
  for (std::uint32_t i = 0; i < 10; ++i) together.push_back({i % 2 == 0 ? 100U : 0U, 100});
  for (std::uint32_t i = 0; i < 1000; ++i) apart.push_back({i % 2, 1});
  const Interval wide = accuracy_interval(together);
  const Interval narrow = accuracy_interval(apart);
  EXPECT_GT(wide.high - wide.low, 0.4);
  EXPECT_LT(narrow.high - narrow.low, 0.1);
}

TEST(Bootstrap, Edges) {
  EXPECT_EQ(accuracy_interval({}).high, 0);
  const std::vector<LineCount> none = {{0, 0}};
  EXPECT_EQ(accuracy_interval(none).high, 0);
  const std::vector<LineCount> one = {{1, 2}};
  EXPECT_EQ(accuracy_interval(one).low, 0.5);
  EXPECT_EQ(accuracy_interval(one).high, 0.5);
  const std::vector<LineCount> right(50, {1, 1});
  EXPECT_EQ(accuracy_interval(right).low, 1);
}

}  // namespace
}  // namespace layard::evaluation
