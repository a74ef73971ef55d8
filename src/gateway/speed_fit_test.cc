#include "gateway/speed_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/python_random.h"
#include "support/simulated_fleet.h"

namespace layard::gateway {
namespace {

using layard::testing::SimulatedFleet;

double deviation_of(const std::vector<FitPoint>& points, const FitLine& line) {
  double sum = 0;
  for (const FitPoint& one : points) {
    sum += std::abs(one.y - line.intercept - line.slope * one.x);
  }
  return sum;
}

// Every line through two points, which some best line is.
double least_deviation(const std::vector<FitPoint>& points) {
  double least = HUGE_VAL;
  for (const FitPoint& a : points) {
    least = std::min(least, deviation_of(points, {a.y, 0}));
    for (const FitPoint& b : points) {
      if (a.x == b.x) continue;
      const double slope = (b.y - a.y) / (b.x - a.x);
      least = std::min(least, deviation_of(points, {a.y - slope * a.x, slope}));
    }
  }
  return least;
}

TEST(SpeedFit, TheLineIsTheBestOfAll) {
  base::PythonRandom random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<FitPoint> points;
    const std::size_t count = 1 + random.below(30);
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back({double(random.below(12)), double(random.below(50))});
    }
    const double found = deviation_of(points, least_absolute_line(points));
    EXPECT_LE(found, least_deviation(points) + 1e-9) << trial;
  }
}

TEST(SpeedFit, AFewSlowRequestsChangeNothing) {
  std::vector<FitPoint> points;
  for (int i = 0; i < 20; ++i) points.push_back({double(i), 5 + 2.0 * i});
  for (const int slow : {3, 9, 17}) points[static_cast<std::size_t>(slow)].y += 1000;
  const FitLine line = least_absolute_line(points);
  EXPECT_DOUBLE_EQ(line.intercept, 5);
  EXPECT_DOUBLE_EQ(line.slope, 2);
  EXPECT_DOUBLE_EQ(least_absolute_rate(std::vector<FitPoint>{{1, 2}, {10, 30}, {2, 4}}), 3);
  EXPECT_EQ(least_absolute_rate(std::vector<FitPoint>{{0, 2}}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({}), 0);
}

TEST(SpeedFit, KnownSpeedsAreFound) {
  SimulatedFleet fleet;
  fleet.devices = {{"a", 50, 300, {45.7, 28.3, 17.8, 20}}, {"b", 120, 98, {31.7, 25.8, 28.2, 30}}};
  fleet.noise = 0.03;
  const SpeedModel model = fit_speeds(fleet.evidence());
  EXPECT_TRUE(model.usable);
  EXPECT_LT(model.held_out_error, 0.04);
  EXPECT_GT(model.held_out, 0U);
  for (const auto& device : fleet.devices) {
    for (std::size_t k = 0; k < 4; ++k) {
      const DeviceSpeed found =
          model.find(device.name)->speed(layard::testing::kSimulatedClasses[k], {2000, 0, 10});
      EXPECT_NEAR(found.decode_tps / device.decode_tps[k], 1, 0.03);
      EXPECT_NEAR(found.prefill_tps / device.prefill_tps, 1, 0.05);
      EXPECT_NEAR(found.fixed_ms, device.fixed_ms, 0.3 * device.fixed_ms);
    }
  }
  EXPECT_EQ(model.predict_ms("c", "code", {}), std::nullopt);
  EXPECT_EQ(model.predict_ms("a", "poem", {}), std::nullopt);
}

TEST(SpeedFit, DiscardedRoundsControlsAndFailuresDoNotCount) {
  SimulatedFleet fleet;
  fleet.devices = {{"a"}};
  MeasuredEvidence evidence = fleet.evidence();
  const double before = fit_speeds(evidence).find("a")->decode[0].decode_tps;
  for (MeasuredRequest& request : evidence.requests) {
    if (request.round == 2) request.total_ms *= 9;
  }
  evidence.discarded = {{2, "a", 0.5}};
  for (MeasuredRequest request : fleet.evidence().requests) {
    request.total_ms *= 7;
    request.status = 503;
    evidence.requests.push_back(request);
    request.status = 200;
    request.kind = MeasuredKind::kControl;
    evidence.requests.push_back(request);
  }
  EXPECT_DOUBLE_EQ(fit_speeds(evidence).find("a")->decode[0].decode_tps, before);
}

// Times that the model does not explain, and prompts whose tokens nobody counted.
TEST(SpeedFit, WhatCannotBePredictedIsNotUsed) {
  SimulatedFleet fleet;
  fleet.devices = {{"a"}};
  fleet.noise = 0.9;
  EXPECT_FALSE(fit_speeds(fleet.evidence()).usable);
  fleet.noise = 0;
  MeasuredEvidence evidence = fleet.evidence();
  for (MeasuredRequest& request : evidence.requests) request.prompt_tokens.reset();
  const SpeedModel model = fit_speeds(evidence);
  EXPECT_FALSE(model.usable);
  EXPECT_EQ(model.held_out, 0U);
  EXPECT_EQ(model.predict_ms("a", "code", {}), std::nullopt);
}

// Reading that gets slower with the length: one line would miss it.
TEST(SpeedFit, LongPromptsHaveALineOfTheirOwn) {
  SimulatedFleet fleet;
  fleet.devices = {{"a"}};
  fleet.per_class = 40;
  MeasuredEvidence evidence = fleet.evidence();
  for (MeasuredRequest& request : evidence.requests) {
    const double tokens = static_cast<double>(*request.prompt_tokens);
    const double ttft = 20 + tokens * 1000 / (tokens > 512 ? 310 : 335);
    request.total_ms += ttft - request.ttft_ms;
    request.ttft_ms = ttft;
  }
  const SpeedModel model = fit_speeds(evidence);
  ASSERT_TRUE(model.usable);
  EXPECT_NEAR(model.find("a")->speed("code", {100, 0, 1}).prefill_tps, 335, 5);
  EXPECT_NEAR(model.find("a")->speed("code", {2000, 0, 1}).prefill_tps, 310, 5);
}

}  // namespace
}  // namespace layard::gateway
