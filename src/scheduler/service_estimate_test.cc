#include "scheduler/service_estimate.h"

#include <gtest/gtest.h>

#include <limits>

namespace layard::scheduler {
namespace {

constexpr BatchKey kKey = 7;

// Estimate of a job of cost 100 after batches of cost 100 that took `batches_ms`, from a start of
// 0.01 ms per cost (1 ms).
double estimate_ms(std::initializer_list<double> batches_ms) {
  ServiceEstimate service(0.01, 4);
  for (const double ms : batches_ms) {
    service.learn(kKey, 100, static_cast<std::int64_t>(ms * 1e6));
  }
  return static_cast<double>(service.job_ns(kKey, 100)) / 1e6;
}

TEST(ServiceEstimate, StartCountsAsOneSample) {
  EXPECT_DOUBLE_EQ(estimate_ms({}), 1);
  EXPECT_DOUBLE_EQ(estimate_ms({3}), 2);        // (1 + 3) / 2
  EXPECT_DOUBLE_EQ(estimate_ms({3, 5}), 3);     // (1 + 3 + 5) / 3
  EXPECT_DOUBLE_EQ(estimate_ms({3, 5, 7}), 4);  // (1 + 3 + 5 + 7) / 4
  EXPECT_DOUBLE_EQ(estimate_ms({0.25, 0.25}), 0.5);
}

TEST(ServiceEstimate, LaterSamplesWeighATenth) {
  ServiceEstimate service(0.01, 4);
  for (int i = 0; i < 100; ++i) service.learn(kKey, 100, 1'000'000);
  EXPECT_EQ(service.job_ns(kKey, 100), 1'000'000);
  service.learn(kKey, 100, 2'000'000);
  EXPECT_EQ(service.job_ns(kKey, 100), 1'100'000);
  service.learn(kKey, 200, 2'000'000);  // the same time per cost as at first
  EXPECT_EQ(service.job_ns(kKey, 100), 1'090'000);
}

TEST(ServiceEstimate, OneSampleMovesItOnlySoFar) {
  EXPECT_DOUBLE_EQ(estimate_ms({10'000}), 4.5);  // counted as 8
  EXPECT_DOUBLE_EQ(estimate_ms({0}), 0.5625);    // counted as 1/8
}

TEST(ServiceEstimate, StandingClockLeavesAWayBack) {
  ServiceEstimate service(0.01, 4);
  for (int i = 0; i < 10'000; ++i) service.learn(kKey, 1, 0);
  for (int i = 0; i < 200; ++i) service.learn(kKey, 1, 1'000'000);
  EXPECT_GT(service.job_ns(kKey, 1), 900'000);
}

TEST(ServiceEstimate, KeysAreSeparateAndBounded) {
  ServiceEstimate service(0.01, 2);
  service.learn(1, 100, 3'000'000);
  service.learn(2, 100, 5'000'000);
  service.learn(1, 100, 5'000'000);
  EXPECT_EQ(service.job_ns(1, 100), 3'000'000);
  EXPECT_EQ(service.job_ns(2, 100), 3'000'000);
  service.learn(3, 100, 7'000'000);  // forgets 2, the longest unused
  EXPECT_EQ(service.keys(), 2U);
  EXPECT_EQ(service.job_ns(1, 100), 3'000'000);
  EXPECT_EQ(service.job_ns(2, 100), 1'000'000);
  EXPECT_EQ(service.job_ns(3, 100), 4'000'000);
}

TEST(ServiceEstimate, BoundedForSums) {
  ServiceEstimate service(1e300, 1);
  EXPECT_EQ(service.job_ns(kKey, std::int64_t{1} << 40), ServiceEstimate::kJobNsMax);
  EXPECT_EQ(bounded_job_ns(std::numeric_limits<double>::max()), ServiceEstimate::kJobNsMax);
  EXPECT_EQ(bounded_job_ns(2.5), 2'500'000);
  EXPECT_EQ(bounded_job_ns(0), 0);
}

}  // namespace
}  // namespace layard::scheduler
