#include "gateway/gateway_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace layard::gateway {
namespace {

TEST(GatewayStats, NamesOfApis) {
  const auto check = [](Api api, std::string_view name) { EXPECT_EQ(api_name(api), name); };
  check(Api::kChatCompletions, "chat_completions");
  check(Api::kCompletions, "completions");
  check(Api::kResponses, "responses");
  check(Api::kEmbeddings, "embeddings");
  check(Api::kMessages, "messages");
  check(Api::kCountTokens, "count_tokens");
  EXPECT_EQ(static_cast<std::size_t>(Api::kCountTokens) + 1, kApis);
  EXPECT_EQ(static_cast<std::size_t>(DecisionSource::kError) + 1, kDecisionSources);
}

TEST(GatewayStats, ATimeIsCountedAtTheFirstBoundThatHoldsIt) {
  const auto place = [](double seconds) {
    StatTimes times;
    times.add(seconds);
    EXPECT_EQ(times.count(), 1U);
    EXPECT_EQ(times.sum_s, seconds);
    return std::ranges::find(times.counts, 1U) - times.counts.begin();
  };
  EXPECT_EQ(place(0), 0);
  EXPECT_EQ(place(0.0004), 0);
  EXPECT_EQ(place(0.0005), 0) << "a bound holds itself";
  EXPECT_EQ(place(0.00051), 1);
  EXPECT_EQ(place(1), 10);
  EXPECT_EQ(place(600), 15);
  EXPECT_EQ(place(601), 16) << "more than the last bound";
  EXPECT_TRUE(std::ranges::is_sorted(kStatBoundsS));
}

TEST(GatewayStats, TimesAddUp) {
  StatTimes times;
  for (const double seconds : {0.25, 0.5, 700.0, 0.25}) times.add(seconds);
  EXPECT_EQ(times.count(), 4U);
  EXPECT_DOUBLE_EQ(times.sum_s, 701);
  EXPECT_EQ(times.counts[8], 2U);
  EXPECT_EQ(times.counts[16], 1U);
}

TEST(GatewayStats, TheNewestDecisionsFirstAndNoMoreThanFifty) {
  GatewayStats stats;
  EXPECT_TRUE(stats.snapshot().recent.empty());
  for (int i = 0; i < 120; ++i) {
    RecentDecision recent;
    recent.time_ms = i;
    stats.add_recent(std::move(recent));
  }
  const auto recent = stats.snapshot().recent;
  ASSERT_EQ(recent.size(), GatewayStats::kRecentMax);
  EXPECT_EQ(recent.front().time_ms, 119);
  EXPECT_EQ(recent.back().time_ms, 70);
}

TEST(GatewayStats, UpdatesOfManyThreads) {
  GatewayStats stats;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&stats] {
      for (int j = 0; j < 1000; ++j) {
        stats.update([](StatsSnapshot& now) {
          ++now.retries;
          ++now.devices["gpu0"].attempts;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StatsSnapshot now = stats.snapshot();
  EXPECT_EQ(now.retries, 4000U);
  EXPECT_EQ(now.devices.at("gpu0").attempts, 4000U);
  // What was taken does not change any more.
  stats.update([](StatsSnapshot& later) { later.retries = 0; });
  EXPECT_EQ(now.retries, 4000U);
}

}  // namespace
}  // namespace layard::gateway
