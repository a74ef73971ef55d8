#include "gateway/sticky_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <random>
#include <thread>

namespace layard::gateway {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
using Kind = StickyBegin::Kind;

StickyKey key_of(std::uint64_t number) {
  StickyKey key{};
  // The hash reads the first half: equal there, so that the rest of the key must be compared.
  for (std::size_t i = 0; i < 8; ++i) key[8 + i] = static_cast<std::uint8_t>(number >> (8 * i));
  return key;
}

StickyDecision decided(const std::string& name) {
  return {name, 0.5, {{name, 0.75}}, DecisionSource::kModel};
}

// A begin that must be first, decided at once.
void put(StickyTable& table, std::uint64_t number, std::int64_t now_ns) {
  StickyBegin begin = table.begin(key_of(number), now_ns, {});
  ASSERT_EQ(begin.kind, Kind::kFirst);
  begin.turn.finish(decided(std::to_string(number)), now_ns);
}

bool has(StickyTable& table, std::uint64_t number, std::int64_t now_ns) {
  return table.begin(key_of(number), now_ns, {}).kind == Kind::kHit;
}

TEST(StickyTable, KeepsWhatWasDecided) {
  StickyTable table({});
  put(table, 7, 0);
  const StickyBegin again = table.begin(key_of(7), 1, {});
  ASSERT_EQ(again.kind, Kind::kHit);
  EXPECT_EQ(again.decision->class_name, "7");
  EXPECT_EQ(again.decision->confidence, 0.5);
  EXPECT_EQ(again.decision->probabilities.at(0).second, 0.75);
  EXPECT_FALSE(has(table, 8, 1));
  EXPECT_EQ(table.counters().hits, 1U);
  EXPECT_EQ(table.counters().misses, 2U);
}

TEST(StickyTable, ExpiresAfterItsLastUse) {
  StickyTable table({.ttl_s = 10});
  put(table, 1, 0);
  EXPECT_TRUE(has(table, 1, 10 * kSecondNs - 1));
  EXPECT_TRUE(has(table, 1, 20 * kSecondNs - 2)) << "used since";
  EXPECT_TRUE(has(table, 1, 5)) << "an earlier time does not shorten it";
  EXPECT_FALSE(has(table, 1, 30 * kSecondNs - 2));
  EXPECT_EQ(table.counters().expired, 1U);
  EXPECT_EQ(table.size(), 0U);
}

TEST(StickyTable, DropsExpiredOnesAFewAtATime) {
  StickyTable table({.ttl_s = 1});
  for (std::uint64_t i = 0; i < 10; ++i) put(table, i, 0);
  EXPECT_FALSE(has(table, 99, kSecondNs));
  EXPECT_EQ(table.size(), 6U);
}

TEST(StickyTable, TheLeastRecentlyUsedGivesWay) {
  StickyTable table({.entries_max = 3});
  for (std::uint64_t i = 1; i <= 3; ++i) put(table, i, 0);
  EXPECT_TRUE(has(table, 1, 1));
  put(table, 4, 2);
  EXPECT_EQ(table.counters().evicted, 1U);
  EXPECT_TRUE(has(table, 1, 3));
  EXPECT_FALSE(has(table, 2, 3));
  EXPECT_TRUE(has(table, 3, 3));
  EXPECT_EQ(table.size(), 3U);
}

TEST(StickyTable, OthersWaitForTheFirst) {
  StickyTable table({});
  std::string told;
  const auto waiter = [&](const StickyDecision* decision) {
    told += decision == nullptr ? "-" : decision->class_name;
    EXPECT_LE(table.size(), 1U) << "no lock is held";
  };
  StickyBegin first = table.begin(key_of(1), 0, {});
  ASSERT_TRUE(first.turn.stores());
  const StickyBegin second = table.begin(key_of(1), 0, waiter);
  const StickyBegin third = table.begin(key_of(1), 0, waiter);
  EXPECT_EQ(second.kind, Kind::kWait);
  EXPECT_EQ(table.begin(key_of(2), 0, {}).kind, Kind::kFirst) << "another conversation does not";
  EXPECT_TRUE(table.cancel(key_of(1), second.waiter));
  EXPECT_FALSE(table.cancel(key_of(1), second.waiter));
  first.turn.finish(decided("code"), 0);
  EXPECT_EQ(told, "code");
  EXPECT_FALSE(table.cancel(key_of(1), third.waiter));
  EXPECT_EQ(table.counters().waits, 2U);
  EXPECT_TRUE(has(table, 1, 0));
}

TEST(StickyTable, AFailureIsToldAndNotKept) {
  StickyTable table({});
  int failures = 0;
  {
    const StickyBegin first = table.begin(key_of(1), 0, {});
    table.begin(key_of(1), 0,
                [&](const StickyDecision* decision) { failures += decision == nullptr; });
  }
  EXPECT_EQ(failures, 1);
  StickyBegin next = table.begin(key_of(1), 0, {});
  EXPECT_EQ(next.kind, Kind::kFirst);
  StickyTurn moved = std::move(next.turn);
  EXPECT_FALSE(next.turn.stores());
  next.turn.fail();
  EXPECT_EQ(table.begin(key_of(1), 0, [](const StickyDecision*) {}).kind, Kind::kWait);
  moved = StickyTurn();
  EXPECT_EQ(table.begin(key_of(1), 0, {}).kind, Kind::kFirst);
}

TEST(StickyTable, WaitersAndDecisionsAreBounded) {
  StickyTable table({.deciding_max = 2, .waiters_max = 1});
  StickyBegin first = table.begin(key_of(1), 0, {});
  StickyBegin other = table.begin(key_of(2), 0, {});
  EXPECT_EQ(table.begin(key_of(1), 0, [](const StickyDecision*) {}).kind, Kind::kWait);
  for (const std::uint64_t number : {1U, 3U}) {
    StickyBegin over = table.begin(key_of(number), 0, {});
    EXPECT_EQ(over.kind, Kind::kFirst);
    EXPECT_FALSE(over.turn.stores());
    over.turn.finish(decided("lost"), 0);
    EXPECT_EQ(table.size(), 0U);
  }
  first.turn.finish(decided("a"), 0);
  EXPECT_TRUE(has(table, 1, 0));
}

TEST(StickyTable, ClearedWhileDeciding) {
  StickyTable table({});
  put(table, 1, 0);
  StickyBegin open = table.begin(key_of(2), 0, {});
  std::string told;
  table.begin(key_of(2), 0, [&](const StickyDecision* decision) { told = decision->class_name; });
  table.clear();
  open.turn.finish(decided("old"), 0);
  EXPECT_EQ(told, "old");
  EXPECT_EQ(table.size(), 0U) << "of another policy, so it is not kept";
}

TEST(StickyTable, OneIsForgotten) {
  StickyTable table({});
  put(table, 1, 0);
  put(table, 2, 0);
  table.forget(key_of(1));
  table.forget(key_of(1));
  table.forget(key_of(3));
  EXPECT_EQ(table.size(), 1U);
  put(table, 1, 0);  // decided anew
  EXPECT_TRUE(has(table, 2, 0));
}

TEST(StickyTable, ATurnMayOutliveItsTable) {
  StickyTurn turn;
  {
    StickyTable table({});
    turn = table.begin(key_of(1), 0, {}).turn;
  }
  turn.finish(decided("a"), 0);
  EXPECT_FALSE(turn.stores());
}

// Against the plainest table that keeps the same promise.
TEST(StickyTable, LikeAPlainList) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 draw(seed);
  constexpr std::size_t kEntries = 8;
  StickyTable table({.ttl_s = 5, .entries_max = kEntries});
  std::list<std::pair<std::uint64_t, std::int64_t>> plain;  // last used first
  std::int64_t now_ns = 0;
  for (int step = 0; step < 20'000; ++step) {
    now_ns += static_cast<std::int64_t>(draw() % 1000) * 1'000'000;
    const std::uint64_t number = draw() % 16;
    while (!plain.empty() && now_ns - plain.back().second >= 5 * kSecondNs) plain.pop_back();
    const auto found =
        std::ranges::find(plain, number, &std::pair<std::uint64_t, std::int64_t>::first);
    const bool expected = found != plain.end();
    if (expected) plain.erase(found);
    StickyBegin begin = table.begin(key_of(number), now_ns, {});
    ASSERT_EQ(begin.kind == Kind::kHit, expected) << step;
    if (!expected) {
      // Expired ones that the table still holds may have to give way first; they are last in both.
      begin.turn.finish(decided("x"), now_ns);
      if (plain.size() == kEntries) plain.pop_back();
    }
    plain.emplace_front(number, now_ns);
    ASSERT_LE(table.size(), kEntries);
  }
}

TEST(StickyTable, EveryWaiterIsCalledOnce) {
  StickyTable table({.entries_max = 4});
  std::atomic<int> waited{0};
  std::atomic<int> called{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 draw(t);
      for (int i = 0; i < 2000; ++i) {
        const StickyKey key = key_of(draw() % 6);
        StickyBegin begin = table.begin(key, i, [&](const StickyDecision*) { ++called; });
        if (begin.kind == Kind::kWait) {
          ++waited;
          if (draw() % 3 == 0 && table.cancel(key, begin.waiter)) ++called;
        } else if (draw() % 2 == 0) {
          begin.turn.finish(decided("a"), i);
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(called, waited);
  EXPECT_LE(table.size(), 4U);
}

TEST(StickyTable, NamesOfSources) {
  EXPECT_EQ(decision_source_name(DecisionSource::kModel), "model");
  EXPECT_EQ(decision_source_name(DecisionSource::kSticky), "sticky");
  EXPECT_EQ(decision_source_name(DecisionSource::kError), "error");
}

}  // namespace
}  // namespace layard::gateway
