#include <gtest/gtest.h>

#include <cmath>

#include "layard/evaluation.h"

namespace layard {
namespace {

using Answers = std::vector<JudgedAnswer>;

TEST(EvaluationMetrics, ReliabilityByHand) {
  // (0, 1/2] has 0.5 right and 0.25 wrong; (1/2, 1] has 0.75 right.
  const Answers answers = {{0.5, true}, {0.25, false}, {0.75, true}};
  const auto bins = reliability_bins(answers, 2);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].count, 2U);
  EXPECT_DOUBLE_EQ(bins[0].confidence, 0.375);
  EXPECT_DOUBLE_EQ(bins[0].accuracy, 0.5);
  EXPECT_EQ(bins[1].count, 1U);
  EXPECT_DOUBLE_EQ(bins[1].low, 0.5);
  EXPECT_DOUBLE_EQ(bins[1].high, 1.0);
  // (2 |0.5 - 0.375| + 1 |1 - 0.75|) / 3
  EXPECT_DOUBLE_EQ(calibration_error(bins), 0.5 / 3);
}

// Also where i / n * n is not i in doubles.
TEST(EvaluationMetrics, EveryEdgeIsInTheBinBelowIt) {
  const auto count_in = [](double confidence, std::size_t bins, std::size_t bin) {
    return reliability_bins(Answers{{confidence, true}}, bins)[bin].count;
  };
  for (std::size_t bins = 1; bins <= 120; ++bins) {
    for (std::size_t edge = 0; edge <= bins; ++edge) {
      const double at = static_cast<double>(edge) / static_cast<double>(bins);
      ASSERT_EQ(count_in(at, bins, edge == 0 ? 0 : edge - 1), 1U) << edge << "/" << bins;
      if (edge == 0 || edge == bins) continue;
      ASSERT_EQ(count_in(std::nextafter(at, 2.0), bins, edge), 1U) << edge << "/" << bins;
    }
  }
}

TEST(EvaluationMetrics, NothingGivesZeros) {
  EXPECT_EQ(calibration_error(reliability_bins({}, kReliabilityBins)), 0);
  EXPECT_EQ(calibration_error({}), 0);
  const auto curve = abstention_curve({}, 2);
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].coverage, 0);
  EXPECT_EQ(curve[0].error, 0);
  EXPECT_EQ(threshold_for_error({}, 0.5), 1);
}

TEST(EvaluationMetrics, OneOptionIsCertainAndRight) {
  const Answers answers(4, {1.0, true});
  EXPECT_EQ(calibration_error(reliability_bins(answers, kReliabilityBins)), 0);
  EXPECT_EQ(abstention_curve(answers, 4).back().answered, 4U);
}

TEST(EvaluationMetrics, AbstentionByHand) {
  const Answers answers = {{0.9, true}, {0.5, false}, {0.75, false}, {1.0, true}};
  const auto curve = abstention_curve(answers, 4);
  ASSERT_EQ(curve.size(), 5U);
  EXPECT_EQ(curve[0].answered, 4U);
  EXPECT_DOUBLE_EQ(curve[0].error, 0.5);
  EXPECT_DOUBLE_EQ(curve[2].threshold, 0.5);
  EXPECT_EQ(curve[2].answered, 4U) << "an answer at the threshold is given";
  EXPECT_EQ(curve[3].answered, 3U);
  EXPECT_DOUBLE_EQ(curve[3].coverage, 0.75);
  EXPECT_DOUBLE_EQ(curve[3].error, 1.0 / 3);
  EXPECT_EQ(curve[4].answered, 1U);
  EXPECT_EQ(curve[4].error, 0);
}

TEST(EvaluationMetrics, ThresholdByHand) {
  // Nine right ones at 0.8: (0 + 1) / (9 + 1) = 0.1, just enough.
  Answers answers(9, {0.8, true});
  EXPECT_EQ(threshold_for_error(answers, 0.1), 0.8);
  answers.pop_back();
  EXPECT_EQ(threshold_for_error(answers, 0.1), 1) << "1/9 is above";
  // A wrong one of the same confidence is accepted with them, in whichever order they stand.
  answers.insert(answers.begin(), {0.8, false});
  answers.push_back({0.8, true});
  EXPECT_EQ(threshold_for_error(answers, 0.1), 1);
  EXPECT_EQ(threshold_for_error(answers, 0.2), 0.8) << "2/11";
  // The smallest level counts, also where one above it fails: 1/2 at 0.9, 1/10 at 0.5.
  Answers late = {{0.9, true}};
  late.insert(late.end(), 8, {0.5, true});
  EXPECT_EQ(threshold_for_error(late, 0.1), 0.5);
}

}  // namespace
}  // namespace layard
