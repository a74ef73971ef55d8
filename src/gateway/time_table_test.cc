#include "gateway/time_table.h"

#include <gtest/gtest.h>

#include "support/simulated_fleet.h"

namespace layard::gateway {
namespace {

using layard::testing::SimulatedFleet;

SimulatedFleet two_devices() {
  SimulatedFleet fleet;
  fleet.devices = {{"a", 80, 300, {20, 20, 20, 20}}, {"b", 80, 300, {40, 20, 20, 20}}};
  return fleet;
}

double code_gain(const TimeTable::Means& means) { return means(0, 0) - means(0, 1); }

TEST(TimeTable, TheIntervalHoldsTheGain) {
  SimulatedFleet fleet = two_devices();
  fleet.noise = 0.05;
  const MeasuredEvidence evidence = fleet.evidence();
  const RouteTraffic traffic = case_traffic(evidence);
  const auto table = TimeTable::make(evidence, fit_speeds(evidence), traffic, "a");
  EXPECT_EQ(table.prompts(0), 24U);
  const GainInterval found = table.interval(code_gain);
  const double truth = decode_gain_ms(200, 20, 40);
  EXPECT_NEAR(found.mean, truth, 0.02 * truth);
  EXPECT_LT(found.low, truth);
  EXPECT_GT(found.high, truth);
  EXPECT_GT(found.low, 0.8 * truth);
  EXPECT_DOUBLE_EQ(code_gain(table.means()), found.mean);
  // Paired: what both devices have in common adds nothing to the width.
  const GainInterval same =
      table.interval([](const TimeTable::Means& means) { return means(0, 0) - means(0, 0); });
  EXPECT_EQ(same.low, 0);
  EXPECT_EQ(same.high, 0);
}

TEST(TimeTable, SameNumbersTwice) {
  SimulatedFleet fleet = two_devices();
  fleet.noise = 0.05;
  const MeasuredEvidence evidence = fleet.evidence();
  const RouteTraffic traffic = case_traffic(evidence);
  const auto make = [&] {
    return TimeTable::make(evidence, fit_speeds(evidence), traffic, "a").interval(code_gain);
  };
  EXPECT_EQ(make().low, make().low);
  EXPECT_EQ(make().high, make().high);
}

TEST(TimeTable, APromptThatADeviceLacksDoesNotCount) {
  MeasuredEvidence evidence = two_devices().evidence();
  std::erase_if(evidence.requests, [](const MeasuredRequest& request) {
    return request.device == "b" && (request.prompt == "code-3" || request.class_name == "short");
  });
  const auto table = TimeTable::make(evidence, fit_speeds(evidence), case_traffic(evidence), "a");
  EXPECT_EQ(table.prompts(0), 23U);
  EXPECT_EQ(table.prompts(2), 0U);
  EXPECT_EQ(table.means()(2, 0), 0);
}

// The traffic writes ten times as much as the cases did.
TEST(TimeTable, TimesAreThoseOfTheTraffic) {
  const MeasuredEvidence evidence = two_devices().evidence();
  RouteTraffic traffic = case_traffic(evidence);
  traffic.classes[0].size = RequestSize{400, 0, 2001};
  const auto table = TimeTable::make(evidence, fit_speeds(evidence), traffic, "a");
  EXPECT_NEAR(table.means()(0, 0), 80 + 400 / 0.3 + 2000 * 50, 1);
  EXPECT_NEAR(table.means()(0, 1), 80 + 400 / 0.3 + 2000 * 25, 1);
}

// A device that writes twice as long replies is not twice as slow.
TEST(TimeTable, LongerRepliesAreNotSlowness) {
  MeasuredEvidence evidence = two_devices().evidence();
  for (MeasuredRequest& request : evidence.requests) {
    if (request.device != "b" || request.class_name != "prose") continue;
    const double each = (request.total_ms - request.ttft_ms) / double(request.output_tokens - 1);
    request.total_ms += each * double(request.output_tokens - 1);
    request.output_tokens = 2 * request.output_tokens - 1;
  }
  const auto table = TimeTable::make(evidence, fit_speeds(evidence), case_traffic(evidence), "a");
  EXPECT_NEAR(table.means()(1, 0), table.means()(1, 1), 1);
}

}  // namespace
}  // namespace layard::gateway
