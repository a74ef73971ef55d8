#include "gateway/rate_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace layard::gateway {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::size_t kCallers = 100;

TEST(RateLimit, PerMinute) {
  RateLimiter limiter(kCallers);
  const CallerLimits limits{.per_minute = 60, .burst = 3};
  const auto check = [&](std::int64_t at_ms, std::int64_t retry_after_ms) {
    const RateAdmission one = limiter.admit("a", limits, at_ms * kMsNs);
    EXPECT_EQ(one.retry_after_ms, retry_after_ms) << at_ms;
    EXPECT_EQ(one.refusal, retry_after_ms == 0 ? RateRefusal::kNone : RateRefusal::kPerMinute);
  };
  check(0, 0);
  check(0, 0);
  check(0, 0);
  check(0, 1000);
  check(1, 999);  // what is refused costs nothing
  check(999, 1);
  check(1000, 0);
  check(1000, 1000);
  check(2500, 0);
  check(2500, 500);
  check(100'000, 0);  // a long pause fills three, and no more
  check(100'000, 0);
  check(100'000, 0);
  check(100'000, 1000);
  EXPECT_TRUE(limiter.admit("b", limits, 100'000 * kMsNs).ok()) << "each caller by itself";
}

TEST(RateLimit, WithoutABurstAMinutesRequestsAtOnce) {
  RateLimiter limiter(kCallers);
  for (int i = 0; i < 7; ++i) {
    const RateAdmission one = limiter.admit("a", {.per_minute = 7}, 0);
    EXPECT_TRUE(one.ok()) << i;
  }
  EXPECT_EQ(limiter.admit("a", {.per_minute = 7}, 0).retry_after_ms, 8572);  // 60000 / 7, up
}

TEST(RateLimit, AtOnce) {
  RateLimiter limiter(kCallers);
  const CallerLimits limits{.per_minute = 60, .burst = 3, .requests_max = 2};
  RateAdmission first = limiter.admit("a", limits, 0);
  RateAdmission second = limiter.admit("a", limits, 0);
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(limiter.in_flight(), 2U);
  for (int i = 0; i < 5; ++i) {
    const RateAdmission over = limiter.admit("a", limits, 0);
    EXPECT_EQ(over.refusal, RateRefusal::kAtOnce);
    EXPECT_EQ(over.retry_after_ms, 1000);
  }
  first.lease.end();
  first.lease.end();
  EXPECT_EQ(limiter.in_flight(), 1U);
  RateAdmission third = limiter.admit("a", limits, 0);
  EXPECT_TRUE(third.ok()) << "the refused ones took no token";
  RateLease moved = std::move(third.lease);
  third.lease.end();
  EXPECT_EQ(limiter.in_flight(), 2U);
  moved = RateLease();
  EXPECT_EQ(limiter.in_flight(), 1U);
}

TEST(RateLimit, NoLimits) {
  RateLimiter limiter(kCallers);
  std::vector<RateAdmission> all;
  for (int i = 0; i < 1000; ++i) all.push_back(limiter.admit("a", {}, 0));
  EXPECT_EQ(limiter.in_flight(), 1000U);
  all.clear();
  EXPECT_EQ(limiter.in_flight(), 0U);
}

TEST(RateLimit, CallersAreBounded) {
  RateLimiter limiter(2);
  const CallerLimits limits{.per_minute = 60, .burst = 1};
  RateAdmission busy = limiter.admit("busy", limits, 0);
  EXPECT_TRUE(limiter.admit("idle", limits, 0).ok());
  EXPECT_FALSE(limiter.admit("idle", limits, 0).ok());
  RateAdmission other = limiter.admit("other", limits, 0);
  EXPECT_TRUE(other.ok()) << "in the place of the idle one";
  EXPECT_EQ(limiter.callers(), 2U);
  const RateAdmission third = limiter.admit("third", limits, 0);
  EXPECT_EQ(third.refusal, RateRefusal::kCallers);
  EXPECT_EQ(third.retry_after_ms, 1000);
  other.lease.end();
  EXPECT_TRUE(limiter.admit("third", limits, 0).ok());
  EXPECT_FALSE(limiter.admit("busy", limits, 0).ok()) << "it was kept";
}

TEST(RateLimit, TheOneThatAskedLongestAgoGivesWay) {
  RateLimiter limiter(2);
  const CallerLimits limits{.per_minute = 60, .burst = 1};
  EXPECT_TRUE(limiter.admit("a", limits, 0).ok());
  EXPECT_TRUE(limiter.admit("b", limits, 0).ok());
  EXPECT_FALSE(limiter.admit("a", limits, 0).ok());  // asks again
  EXPECT_TRUE(limiter.admit("c", limits, 0).ok());
  EXPECT_FALSE(limiter.admit("a", limits, 0).ok()) << "b went";
}

TEST(RateLimit, ALeaseMayOutliveItsLimiter) {
  RateAdmission one;
  {
    RateLimiter limiter(1);
    one = limiter.admit("a", {}, 0);
  }
  one.lease.end();
}

// In no stretch of time more than the burst and what the time brings.
TEST(RateLimit, NeverMoreThanTheRate) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 draw(seed);
  RateLimiter limiter(kCallers);
  constexpr std::int64_t kBurst = 5;
  std::vector<std::int64_t> admitted_ms;
  std::int64_t now_ms = 0;
  for (int i = 0; i < 5000; ++i) {
    now_ms += static_cast<std::int64_t>(draw() % 300);
    const RateAdmission one =
        limiter.admit("a", {.per_minute = 120, .burst = kBurst}, now_ms * kMsNs);
    if (one.ok()) {
      admitted_ms.push_back(now_ms);
    } else {
      now_ms += one.retry_after_ms;
      ASSERT_TRUE(limiter.admit("a", {.per_minute = 120, .burst = kBurst}, now_ms * kMsNs).ok());
      admitted_ms.push_back(now_ms);
    }
  }
  for (std::size_t from = 0; from < admitted_ms.size(); from += 7) {
    for (std::size_t to = from; to < std::min(from + 50, admitted_ms.size()); ++to) {
      const std::int64_t brought = (admitted_ms[to] - admitted_ms[from]) / 500;
      ASSERT_LE(static_cast<std::int64_t>(to - from) + 1, kBurst + brought);
    }
  }
}

TEST(RateLimit, ThreadsEndAtZero) {
  RateLimiter limiter(3);
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&limiter, t] {
      std::mt19937 draw(t);
      std::vector<RateAdmission> held;
      for (int i = 0; i < 2000; ++i) {
        held.push_back(limiter.admit(std::to_string(draw() % 5), {.requests_max = 3}, i));
        if (draw() % 4 == 0) held.clear();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(limiter.in_flight(), 0U);
  EXPECT_LE(limiter.callers(), 3U);
}

}  // namespace
}  // namespace layard::gateway
