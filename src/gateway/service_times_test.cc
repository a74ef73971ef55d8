#include "gateway/service_times.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(ServiceTimes, MeansThatForget) {
  ServiceTimes times(2);
  EXPECT_EQ(times.predict_us(0), 0);
  times.add(0, 1000);
  EXPECT_EQ(times.predict_us(0), 1000);
  times.add(0, 2000);
  EXPECT_EQ(times.predict_us(0), 1200);
  times.add(0, 200);
  EXPECT_EQ(times.predict_us(0), 1000);
  EXPECT_EQ(times.predict_us(1), 1000) << "never seen: that of all";
  times.add(1, 50);
  EXPECT_EQ(times.predict_us(1), 50);
  EXPECT_EQ(times.predict_us(0), 1000);
}

TEST(ServiceTimes, ABrokenClockIsBounded) {
  ServiceTimes times(1);
  times.add(0, -5);
  EXPECT_EQ(times.predict_us(0), 0);
  for (int i = 0; i < 200; ++i) times.add(0, INT64_MAX);
  EXPECT_LE(times.predict_us(0), 604'800'000'000);
}

}  // namespace
}  // namespace layard::gateway
