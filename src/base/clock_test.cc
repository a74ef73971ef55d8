#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace layard::base {
namespace {

TEST(Clock, RealTimeMovesOn) {
  RealClock clock;
  const double start_ms = clock.now_ms();
  EXPECT_TRUE(clock.sleep_ms(20, {}));
  EXPECT_GE(clock.now_ms() - start_ms, 19.0);
}

TEST(Clock, RealSleepEndsWhenStopped) {
  RealClock clock;
  std::stop_source stop;
  const double start_ms = clock.now_ms();
  const std::jthread stopper([&] {
    RealClock().sleep_ms(20, {});
    stop.request_stop();
  });
  EXPECT_FALSE(clock.sleep_ms(60'000, stop.get_token()));
  EXPECT_LT(clock.now_ms() - start_ms, 30'000.0);
}

TEST(Clock, FakeMovesOnlyWhenTold) {
  FakeClock clock;
  EXPECT_EQ(clock.now_ns(), 0);
  clock.advance_ns(5);
  EXPECT_TRUE(clock.sleep_ms(2, {}));
  EXPECT_EQ(clock.now_ns(), 2'000'005);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(clock.sleep_ms(2, stop.get_token()));
  EXPECT_EQ(clock.now_ns(), 2'000'005);
}

}  // namespace
}  // namespace layard::base
