#include "evaluation/cascade_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::evaluation {
namespace {

TEST(CascadeRules, TheBucketsOwnElseTheDefault) {
  const std::vector<CascadeThreshold> thresholds = {
      {"choice:3-5", 0.7}, {"noul:2", std::nullopt}, {"default", 0.9}};
  EXPECT_EQ(find_threshold(thresholds, "choice:3-5")->confidence, 0.7);
  EXPECT_EQ(find_threshold(thresholds, "score:3-5")->confidence, 0.9);
  // A bucket that never answers does not fall back on the default.
  EXPECT_EQ(find_threshold(thresholds, "noul:2")->confidence, std::nullopt);
  EXPECT_EQ(find_threshold(std::span(thresholds).first(1), "score:2"), nullptr);
  EXPECT_EQ(find_threshold({}, "score:2"), nullptr);
}

TEST(CascadeRules, TheThresholdIsInclusive) {
  EXPECT_TRUE(is_confident(0.7, 0.7));
  EXPECT_FALSE(is_confident(0.7, 0.6999));
  EXPECT_TRUE(is_confident(0.0, 0.0));
  EXPECT_FALSE(is_confident(std::nullopt, 1.0));
}

}  // namespace
}  // namespace layard::evaluation
