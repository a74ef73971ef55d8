#include "gateway/restart_plan.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace layard::gateway {
namespace {

using LifeAndWait = std::pair<std::int64_t, std::int64_t>;

void check(const RestartRule& rule, const std::vector<LifeAndWait>& rows) {
  RestartPlan plan(rule);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(plan.wait_after(rows[i].first), rows[i].second) << "end " << i;
  }
}

TEST(RestartPlan, Waits) {
  check({}, {{0, 1000},
             {0, 2000},
             {59999, 4000},
             {10, 8000},
             {10, 16000},
             {10, 32000},
             {10, 60000},
             {10, 60000},
             {60000, 1000},  // a good life begins anew
             {0, 2000}});
  check({.first_wait_ms = 5, .wait_ms_max = 5}, {{0, 5}, {0, 5}});
  check({.first_wait_ms = 3, .wait_ms_max = 10, .good_life_ms = 1},
        {{0, 3}, {0, 6}, {0, 10}, {1, 3}});
}

TEST(RestartPlan, NeverOverflows) {
  RestartPlan plan({.wait_ms_max = INT64_MAX});
  std::int64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t wait = plan.wait_after(0);
    ASSERT_GE(wait, last);
    last = wait;
  }
}

TEST(RestartPlan, GivesUp) {
  RestartPlan plan({.failures_max = 3});
  for (int failures = 1; failures <= 5; ++failures) {
    plan.wait_after(0);
    EXPECT_EQ(plan.failures(), failures);
    EXPECT_EQ(plan.is_given_up(), failures >= 3) << failures;
  }
  plan.wait_after(60000);
  EXPECT_FALSE(plan.is_given_up());
  plan.reset();
  EXPECT_EQ(plan.failures(), 0);
  RestartPlan never({});
  for (int i = 0; i < 1000; ++i) never.wait_after(0);
  EXPECT_FALSE(never.is_given_up());
}

}  // namespace
}  // namespace layard::gateway
