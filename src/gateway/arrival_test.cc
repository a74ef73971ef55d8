#include "gateway/arrival.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/fake_dialer.h"
#include "support/fake_loop.h"

namespace layard::gateway {
namespace {

using testing::FakeLoop;
using testing::run_into;

using Text = Arrival<std::string>;
using TextPtr = std::shared_ptr<Text>;

constexpr const char* kNothing = "(nothing)";
constexpr const char* kWaits = "(waits)";

TEST(Arrival, WhatWaitsGetsTheFirstThatComes) {
  const auto check = [](std::int64_t limit_ms, const std::function<void(FakeLoop&, TextPtr)>& act,
                        const std::string& expected) {
    FakeLoop loop;
    const auto arrival = std::make_shared<Text>(loop);
    std::optional<std::optional<std::string>> got;
    run_into(arrival->wait(limit_ms), got);
    act(loop, arrival);
    loop.run();
    const std::string found = !got ? kWaits : got->value_or(kNothing);
    EXPECT_EQ(found, expected);
    if (!got) arrival->cancel();  // so that its coroutine ends
    loop.run();
  };
  check(
      0, [](FakeLoop&, TextPtr) {}, kWaits);
  check(
      0, [](FakeLoop&, TextPtr a) { a->bring("a"); }, "a");
  check(
      0,
      [](FakeLoop&, TextPtr a) {
        a->bring("a");
        a->bring("b");
      },
      "a");
  check(
      0, [](FakeLoop&, TextPtr a) { a->cancel(); }, kNothing);
  // A value that comes before the coroutine ran on is not lost.
  check(
      0,
      [](FakeLoop&, TextPtr a) {
        a->cancel();
        a->bring("a");
      },
      "a");
  check(
      0,
      [](FakeLoop&, TextPtr a) {
        a->bring("a");
        a->cancel();
      },
      "a");
  check(
      50, [](FakeLoop& loop, TextPtr) { loop.advance_ms(49); }, kWaits);
  check(
      50, [](FakeLoop& loop, TextPtr) { loop.advance_ms(50); }, kNothing);
  check(
      50,
      [](FakeLoop& loop, TextPtr a) {
        a->bring("a");
        loop.advance_ms(500);
      },
      "a");
  check(
      0, [](FakeLoop& loop, TextPtr) { loop.advance_ms(1'000'000); }, kWaits);
}

TEST(Arrival, MayComeBeforeAnybodyWaits) {
  FakeLoop loop;
  const auto arrival = std::make_shared<Text>(loop);
  arrival->bring("early");
  loop.run();
  std::optional<std::optional<std::string>> got;
  run_into(arrival->wait(0), got);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, "early");
}

TEST(Arrival, APromiseThatIsDroppedEndsTheWait) {
  FakeLoop loop;
  const auto arrival = std::make_shared<Text>(loop);
  auto promise = arrival->promise();
  std::optional<std::optional<std::string>> got;
  run_into(arrival->wait(0), got);
  loop.run();
  EXPECT_FALSE(got.has_value());
  promise.reset();
  loop.run();
  ASSERT_TRUE(got.has_value());
  EXPECT_FALSE(got->has_value());
}

TEST(Arrival, ComesAfterItsLoopIsGone) {
  TextPtr arrival;
  std::shared_ptr<void> promise;
  {
    FakeLoop loop;
    arrival = std::make_shared<Text>(loop);
    promise = arrival->promise();
    std::optional<std::optional<std::string>> got;
    run_into(arrival->wait(10), got);
    loop.advance_ms(10);
    EXPECT_TRUE(got.has_value());
  }
  arrival->bring("late");
  arrival->cancel();
  promise.reset();
}

TEST(Arrival, FromManyThreadsAtOnce) {
  for (int round = 0; round < 50; ++round) {
    FakeLoop loop;
    const auto arrival = std::make_shared<Text>(loop);
    std::optional<std::optional<std::string>> got;
    run_into(arrival->wait(0), got);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([arrival, i] {
        if (i == 2) arrival->cancel();
        arrival->bring(std::to_string(i));
      });
    }
    while (!got.has_value()) loop.run();
    for (auto& thread : threads) thread.join();
    loop.run();
  }
}

}  // namespace
}  // namespace layard::gateway
