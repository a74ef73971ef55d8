#include "backends/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace layard::backends::cpu {
namespace {

void check(ThreadPool& pool, std::size_t tasks) {
  std::vector<std::atomic<int>> runs(tasks);
  std::atomic<bool> in_range = true;
  pool.run(tasks, [&](std::size_t index, std::size_t thread) {
    runs[index].fetch_add(1);
    if (thread >= static_cast<std::size_t>(pool.threads())) in_range = false;
  });
  for (std::size_t i = 0; i < tasks; ++i) ASSERT_EQ(runs[i], 1) << i;
  EXPECT_TRUE(in_range);
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 4, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t tasks : {0, 1, 2, 3, 17, 1000}) check(pool, tasks);
  }
}

TEST(ThreadPool, ManyJobsOfChangingSize) {
  ThreadPool pool(3);
  for (std::size_t job = 0; job < 20000; ++job) check(pool, 1 + job % 7);
}

TEST(ThreadPool, EffectsOfTasksAreSeenByTheCallerAndTheNextJob) {
  ThreadPool pool(4);
  std::vector<int> values(64, 0);
  for (int round = 1; round <= 2000; ++round) {
    pool.run(values.size(), [&](std::size_t i, std::size_t) {
      values[i] += values[i] == round - 1 ? 1 : -1000;  // the last round's value was seen
    });
    for (const int value : values) ASSERT_EQ(value, round);
  }
}

TEST(ThreadPool, OneThreadRunsInline) {
  ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  pool.run(5, [&](std::size_t, std::size_t thread) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(thread, 0U);
  });
}

TEST(ThreadPool, ClampsAndStartsAndStopsAtOnce) {
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(-3).threads(), 1);
  for (int i = 0; i < 200; ++i) ThreadPool pool(3);
}

TEST(ThreadPool, SleepersWakeUp) {
  ThreadPool pool(3);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // far beyond the spinning
    check(pool, 50);
  }
}

}  // namespace
}  // namespace layard::backends::cpu
