#include "http/task.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace layard::http {
namespace {

Task<int> doubled(Signal& signal, int value) {
  co_await signal.wait();
  co_return value * 2;
}

Task<int> thrower() {
  throw std::runtime_error("task");
  co_return 0;
}

Task<void> nothing() { co_return; }

Detached sum(Signal& one, Signal& two, int& result) {
  const int first = co_await doubled(one, 1);
  const int second = co_await doubled(two, 10);
  co_await nothing();
  result = first + second;
}

TEST(HttpTask, ResumesWhereItWaits) {
  Signal one;
  Signal two;
  int result = 0;
  sum(one, two, result);
  EXPECT_TRUE(one.has_waiter());
  two.set();  // before anybody waits
  EXPECT_EQ(result, 0);
  one.set();
  EXPECT_EQ(result, 22);
  EXPECT_FALSE(two.has_waiter());
}

TEST(HttpTask, ExceptionsComeOutOfTheAwait) {
  std::string caught;
  const auto run = [&]() -> Detached {
    try {
      co_await thrower();
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
  };
  run();
  EXPECT_EQ(caught, "task");
}

TEST(HttpTask, AResetSignalWaitsAgain) {
  Signal signal;
  int resumed = 0;
  signal.set();
  signal.reset();
  const auto run = [&]() -> Detached {
    co_await signal.wait();
    ++resumed;
  };
  run();
  EXPECT_EQ(resumed, 0);
  signal.set();
  EXPECT_EQ(resumed, 1);
}

TEST(HttpTask, AnUnfinishedTaskIsDestroyed) {
  Signal signal;
  const auto guard = std::make_shared<int>(1);
  {
    auto hold = [](Signal& held, std::shared_ptr<int> kept) -> Task<void> {
      co_await held.wait();
      EXPECT_NE(kept, nullptr);
    };
    const Task<void> never_awaited = hold(signal, guard);
    EXPECT_EQ(guard.use_count(), 2);
  }
  EXPECT_EQ(guard.use_count(), 1);
}

}  // namespace
}  // namespace layard::http
