#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layard/cascade.h"

namespace layard {
namespace {

using Thresholds = std::vector<CascadeThreshold>;

// `count` questions of one bucket to which every stage says the same with that confidence.
void add(std::vector<CascadeCase>& cases, const std::string& bucket, std::size_t count,
         const std::vector<CascadeOutcome>& stages) {
  for (std::size_t i = 0; i < count; ++i) cases.push_back({bucket, stages});
}

TEST(CascadeFit, SmallestConfidenceThatKeepsTheRisk) {
  std::vector<CascadeCase> cases;
  add(cases, "noul:2", 60, {{0.9, true}, {0.5, true}});
  add(cases, "noul:2", 59, {{0.8, true}, {0.5, true}});
  add(cases, "noul:2", 20, {{0.6, false}, {0.5, true}});
  // (0 + 1) / (119 + 1) = 1/120; with the last twenty 21/140.
  auto fitted = fit_cascade_thresholds(cases, 0.05);
  ASSERT_EQ(fitted.size(), 2U);
  EXPECT_EQ(fitted[0], (Thresholds{{"noul:2", 0.8}, {"default", 0.8}}));
  EXPECT_TRUE(fitted[1].empty());
  EXPECT_EQ(fit_cascade_thresholds(cases, 1.0 / 61)[0],
            (Thresholds{{"noul:2", 0.8}, {"default", 0.8}}));
  EXPECT_EQ(fit_cascade_thresholds(cases, 0.15)[0],
            (Thresholds{{"noul:2", 0.6}, {"default", 0.6}}));
  // 120 and more are not enough for a risk of 1 in 1,000.
  EXPECT_EQ(fit_cascade_thresholds(cases, 0.001)[0], (Thresholds{{"noul:2", {}}, {"default", {}}}));
}

TEST(CascadeFit, ConfidenceOneIsAThresholdOnlyWhereItKeepsTheRisk) {
  std::vector<CascadeCase> cases;
  add(cases, "noul:2", 99, {{1.0, true}, {0.5, true}});
  add(cases, "noul:2", 99, {{0.9, false}, {0.5, true}});
  EXPECT_EQ(fit_cascade_thresholds(cases, 0.05)[0][0].confidence, 1.0);
  std::vector<CascadeCase> wrong;
  add(wrong, "noul:2", 120, {{1.0, false}, {0.5, true}});
  EXPECT_EQ(fit_cascade_thresholds(wrong, 0.05)[0][0].confidence, std::nullopt);
}

TEST(CascadeFit, BucketsBelowTheFloorShareTheDefault) {
  std::vector<CascadeCase> cases;
  add(cases, "choice:3-5", 100, {{0.9, true}, {0.5, true}});
  add(cases, "choice:11+", 99, {{0.7, true}, {0.5, true}});
  EXPECT_EQ(fit_cascade_thresholds(cases, 0.05)[0],
            (Thresholds{{"choice:3-5", 0.9}, {"default", 0.7}}));
}

TEST(CascadeFit, ALaterStageIsFittedOnWhatReachesIt) {
  std::vector<CascadeCase> cases;
  // The first stage is sure and right; what the second would say to these is worthless.
  add(cases, "noul:2", 200, {{0.9, true}, {0.9, false}, {0.5, true}});
  add(cases, "noul:2", 100, {{0.6, false}, {0.8, true}, {0.5, true}});
  const auto fitted = fit_cascade_thresholds(cases, 0.05);
  ASSERT_EQ(fitted.size(), 3U);
  EXPECT_EQ(fitted[0][0].confidence, 0.9);
  EXPECT_EQ(fitted[1], (Thresholds{{"noul:2", 0.8}, {"default", 0.8}}));
}

TEST(CascadeFit, Measure) {
  std::vector<CascadeCase> cases;
  add(cases, "noul:2", 6, {{0.9, true}, {0.5, true}});
  add(cases, "noul:2", 1, {{0.9, false}, {0.5, true}});
  add(cases, "noul:2", 2, {{0.6, true}, {0.5, false}});
  add(cases, "choice:2", 1, {{0.99, true}, {0.5, true}});
  const std::vector<Thresholds> thresholds = {{{"noul:2", 0.9}}, {}};
  const std::vector<double> ms = {1, 10};
  const CascadeMeasure measure = measure_cascade(cases, thresholds, ms);
  EXPECT_EQ(measure.questions, 10U);
  EXPECT_EQ(measure.answered, (std::vector<std::size_t>{7, 3}));  // choice:2 has no threshold
  EXPECT_EQ(measure.wrong, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(measure.right, 7U);
  EXPECT_DOUBLE_EQ(measure.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(measure.ms_per_question, (10 * 1 + 3 * 10) / 10.0);
  EXPECT_EQ(measure_cascade({}, thresholds, ms).accuracy, 0);
}

TEST(CascadeFit, CurveFromTheFirstToTheLast) {
  std::vector<CascadeCase> cases;
  add(cases, "noul:2", 3, {{0.9, false}, {0.5, true}});
  add(cases, "choice:2", 1, {{0.4, true}, {0.5, false}});
  const auto curve = cascade_curve(cases, std::vector<double>{1, 10}, 4);
  ASSERT_EQ(curve.size(), 5U);
  EXPECT_EQ(curve[0].threshold, 0);
  EXPECT_EQ(curve[0].answered, (std::vector<std::size_t>{4, 0}));
  EXPECT_DOUBLE_EQ(curve[0].accuracy, 0.25);
  EXPECT_DOUBLE_EQ(curve[0].ms_per_question, 1);
  EXPECT_EQ(curve[2].answered, (std::vector<std::size_t>{3, 1}));
  EXPECT_EQ(curve[4].answered, (std::vector<std::size_t>{0, 4}));
  EXPECT_DOUBLE_EQ(curve[4].accuracy, 0.75);
  EXPECT_DOUBLE_EQ(curve[4].ms_per_question, 11);
}

}  // namespace
}  // namespace layard
