#include "gateway/device_health.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::gateway {
namespace {

using State = DeviceState;
using Sign = DeviceSign;
constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kHourMs = 3'600'000;

std::string told(const DeviceHealth::Change& change) {
  if (!change.has_value()) return "";
  return std::string(device_state_name(change->from)) + ">" +
         std::string(device_state_name(change->to)) + " " +
         std::string(device_sign_name(change->sign));
}

// A device with a clock in milliseconds, an hour after the start.
struct Device {
  HealthRule rule = {};
  DeviceHealth health{rule, State::kHealthy};
  std::int64_t ms = kHourMs;

  std::int64_t now() const { return ms * kMsNs; }
  std::string probe(bool passed) { return told(health.probe(passed, now())); }
  std::string sees(Sign sign, std::uint64_t trial = 0) {
    return told(health.request_sign(sign, trial, now()));
  }
  std::string tick() { return told(health.tick(now())); }
  bool takes() const { return health.takes_requests(now()); }
  // Ejects it by requests.
  void eject() {
    for (int i = 0; i < 3; ++i) sees(Sign::kConnectFailed);
    ASSERT_EQ(health.state(), State::kEjected);
  }
};

TEST(DeviceHealth, OneFailureNeverFlaps) {
  Device device;
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(device.probe(false), "");
    EXPECT_EQ(device.probe(false), "");
    EXPECT_TRUE(device.takes());
    EXPECT_EQ(device.probe(true), "");
  }
  EXPECT_EQ(device.probe(false) + device.probe(false), "");
  EXPECT_EQ(device.health.failures_in_a_row(), 2);
  EXPECT_EQ(device.probe(false), "healthy>ejected probe_failed");
  EXPECT_FALSE(device.takes());
}

TEST(DeviceHealth, FailedRequestsCountApart) {
  for (const Sign sign : {Sign::kConnectFailed, Sign::kHeadTimeout, Sign::kServerError}) {
    Device device;
    EXPECT_EQ(device.sees(sign), "");
    EXPECT_EQ(device.probe(true), "") << "it answers its probes";
    EXPECT_EQ(device.sees(sign), "");
    EXPECT_EQ(device.probe(false) + device.probe(false), "");
    EXPECT_EQ(device.sees(sign), "healthy>ejected " + std::string(device_sign_name(sign)));
  }
  Device device;
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(device.sees(i % 3 == 2 ? Sign::kServed : Sign::kServerError), "");
  }
}

TEST(DeviceHealth, WaitsGrowToAMinute) {
  Device device;
  device.eject();
  for (const std::int64_t wait_ms : {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000}) {
    EXPECT_EQ(device.health.next_probe_ns(), (device.ms + wait_ms) * kMsNs);
    EXPECT_EQ(device.health.retry_at_ns(device.now()), (device.ms + wait_ms) * kMsNs);
    device.ms += wait_ms - 1;
    EXPECT_EQ(device.tick(), "");
    EXPECT_EQ(device.probe(true), "") << "one that began before it was ejected";
    device.ms += 1;
    EXPECT_EQ(device.tick(), "ejected>half_open retry_time");
    EXPECT_EQ(device.probe(false), "half_open>ejected probe_failed");
  }
  device.ms += 60000;
  device.tick();
  EXPECT_EQ(device.probe(true), "half_open>healthy probe_passed");
  // A probe does not show that requests are served, so the waits go on where they were...
  Device served = device;
  device.eject();
  EXPECT_EQ(device.health.next_probe_ns(), (device.ms + 60000) * kMsNs);
  // ... but for a served request, or a minute in which all was well.
  Device later = served;
  served.sees(Sign::kServed);
  served.eject();
  EXPECT_EQ(served.health.next_probe_ns(), (served.ms + 1000) * kMsNs);
  later.ms += 60000;
  later.eject();
  EXPECT_EQ(later.health.next_probe_ns(), (later.ms + 1000) * kMsNs);
}

TEST(DeviceHealth, HalfOpenTakesOneTrialAtATime) {
  Device device;
  device.eject();
  EXPECT_FALSE(device.takes());
  device.ms += 1000;
  device.tick();
  EXPECT_TRUE(device.takes());
  const std::uint64_t gone = device.health.begin_request();
  EXPECT_NE(gone, 0U);
  EXPECT_FALSE(device.takes());
  EXPECT_EQ(device.health.begin_request(), 0U);
  device.health.end_trial(gone);  // its client is gone: it says nothing
  EXPECT_EQ(device.health.state(), State::kHalfOpen);
  const std::uint64_t late = device.health.begin_request();
  EXPECT_NE(late, 0U);
  EXPECT_EQ(device.sees(Sign::kHeadTimeout, 0), "") << "an older request's";
  EXPECT_EQ(device.probe(false), "half_open>ejected probe_failed");
  device.ms += 2000;
  EXPECT_EQ(device.tick(), "ejected>half_open retry_time");
  const std::uint64_t trial = device.health.begin_request();
  EXPECT_NE(trial, 0U) << "the old trial is not waited for";
  EXPECT_EQ(device.sees(Sign::kHeadTimeout, late), "") << "nor heard";
  device.health.end_trial(late);
  EXPECT_FALSE(device.takes());
  EXPECT_EQ(device.sees(Sign::kHeadTimeout, trial), "half_open>ejected head_timeout");
  device.ms += 4000;
  device.tick();
  EXPECT_EQ(device.sees(Sign::kServed, device.health.begin_request()), "half_open>healthy served");
  EXPECT_EQ(device.health.begin_request(), 0U);
  EXPECT_TRUE(device.takes());
}

TEST(DeviceHealth, SuccessesInARow) {
  Device device{.rule = {.failures = 1, .successes = 3}};
  EXPECT_EQ(device.probe(false), "healthy>ejected probe_failed");
  device.ms += 1000;
  device.tick();
  EXPECT_EQ(device.probe(true) + device.probe(true), "");
  EXPECT_EQ(device.probe(false), "half_open>ejected probe_failed");
  device.ms += 2000;
  device.tick();
  EXPECT_EQ(device.probe(true) + device.sees(Sign::kServed), "");
  EXPECT_EQ(device.probe(true), "half_open>healthy probe_passed");
}

TEST(DeviceHealth, ADeviceThatProducesTokensIsWell) {
  Device device;
  for (int i = 0; i < 10; ++i) {
    device.health.progress(device.now());
    device.ms += 2999;
    EXPECT_EQ(device.probe(false), "");
  }
  EXPECT_EQ(device.health.failures_in_a_row(), 0);
  device.ms += 1;
  EXPECT_EQ(device.probe(false) + device.probe(false), "");
  EXPECT_EQ(device.probe(false), "healthy>ejected probe_failed");
  EXPECT_EQ(device.sees(Sign::kServed), "ejected>half_open served") << "an older request's";
  EXPECT_EQ(device.sees(Sign::kServed), "half_open>healthy served");
}

TEST(DeviceHealth, CoolDownIsNoFailure) {
  const auto check = [](std::int64_t asked_ms, std::int64_t expected_ms) {
    Device device;
    device.health.cool_down(asked_ms, device.now());
    EXPECT_EQ(device.health.state(), State::kHealthy);
    EXPECT_EQ(device.health.retry_at_ns(device.now()), (device.ms + expected_ms) * kMsNs);
    EXPECT_EQ(device.takes(), expected_ms == 0);
    device.ms += expected_ms;
    EXPECT_TRUE(device.takes());
    device.ms -= 1;
    EXPECT_FALSE(device.takes());
  };
  check(5000, 5000);
  check(60000, 60000);
  check(86400000, 60000);
  check(0, 0);
  check(-5, 0);
  Device device;
  device.health.cool_down(5000, device.now());
  device.health.cool_down(1000, device.now());
  device.ms += 4999;
  EXPECT_FALSE(device.takes()) << "a shorter one does not end it";
}

TEST(DeviceHealth, Probes) {
  Device device;
  EXPECT_EQ(device.health.next_probe_ns(), 0) << "at once";
  device.probe(true);
  EXPECT_EQ(device.health.next_probe_ns(), (device.ms + 2000) * kMsNs);
  device.eject();
  device.ms += 1000;
  device.tick();
  EXPECT_EQ(device.health.next_probe_ns(), device.now()) << "with the try";
  device.health.drain();
  EXPECT_EQ(device.health.next_probe_ns(), std::nullopt);
}

TEST(DeviceHealth, ChildrenStartAndDrain) {
  Device device{.health = {HealthRule{}, State::kStarting}};
  EXPECT_FALSE(device.takes());
  EXPECT_EQ(device.health.next_probe_ns(), std::nullopt);
  EXPECT_EQ(device.probe(false) + device.probe(false) + device.probe(false), "");
  EXPECT_EQ(device.sees(Sign::kConnectFailed), "");
  EXPECT_EQ(told(device.health.started(device.now())), "starting>healthy started");
  EXPECT_EQ(told(device.health.started(device.now())), "");
  device.health.cool_down(5000, device.now());
  EXPECT_EQ(told(device.health.stopped()), "healthy>starting stopped");
  device.health.started(device.now());
  EXPECT_TRUE(device.takes()) << "another process does not cool down for the last one";
  EXPECT_EQ(told(device.health.drain()), "healthy>draining drain");
  EXPECT_FALSE(device.takes());
  EXPECT_EQ(device.sees(Sign::kServed) + device.probe(true) + device.probe(false), "");
  EXPECT_EQ(told(device.health.stopped()), "");
  EXPECT_EQ(told(device.health.resume(false)), "draining>starting resume");
  EXPECT_EQ(told(device.health.resume(true)), "");
  device.health.drain();
  EXPECT_EQ(told(device.health.resume(true)), "draining>healthy resume");
}

}  // namespace
}  // namespace layard::gateway
