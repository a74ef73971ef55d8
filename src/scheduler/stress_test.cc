// Everything at once on real threads, for the thread sanitizer and for what only races show.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "scheduler/scheduler.h"

namespace layard::scheduler {
namespace {

constexpr std::uint64_t kJobs = 12'000;

struct Sum final : Payload {
  std::uint64_t input = 0;
  std::uint64_t output = 0;  // input squared, once it ran
};

// What happened to all jobs of one run.
struct Tally {
  std::atomic<std::uint64_t> admitted{0};
  std::atomic<std::uint64_t> refused{0};
  std::array<std::atomic<std::uint64_t>, kEndings> ended{};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<bool> closed{false};

  std::uint64_t ended_sum() const {
    std::uint64_t sum = 0;
    for (const auto& count : ended) sum += count.load();
    return sum;
  }
};

Status square(std::span<BatchJob> jobs, const std::stop_token&) {
  static std::atomic<std::uint64_t> calls{0};
  const std::uint64_t call = ++calls;
  if (call % 50 == 7) throw std::runtime_error("scripted");
  for (BatchJob& job : jobs) {
    auto& sum = static_cast<Sum&>(*job.payload);
    sum.output = sum.input * sum.input;
    if (sum.input % 97 == 5) job.error = Error{ErrorCode::kUnsupportedShape, "scripted"};
  }
  if (call % 16 == 3) std::this_thread::sleep_for(std::chrono::microseconds(300));
  return {};
}

void submit_jobs(Scheduler& scheduler, Tally& tally, std::uint64_t seed, std::uint64_t jobs) {
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    JobSpec spec;
    spec.client = random() % 5;
    spec.key = random() % 2;
    spec.cost = 1 + static_cast<std::int64_t>(random() % 50);
    if (random() % 4 == 0) {
      spec.deadline_ns =
          base::real_clock().now_ns() + static_cast<std::int64_t>(random() % 2'000'000);
    }
    auto payload = std::make_unique<Sum>();
    payload->input = random() % 1000;
    // Dies with the DoneFunction; a second call would find it spent.
    auto called = std::make_shared<std::atomic<int>>(0);
    const Admission admission = scheduler.submit(
        random() % 2, spec, std::move(payload), [&tally, called](const Outcome& outcome) {
          const auto& sum = static_cast<const Sum&>(*outcome.payload);
          if (called->fetch_add(1) != 0) ++tally.wrong;
          if (tally.closed) ++tally.wrong;
          if (outcome.ending == Ending::kCompleted && sum.output != sum.input * sum.input) {
            ++tally.wrong;
          }
          if (outcome.ending == Ending::kExpired && sum.output != 0) ++tally.wrong;
          ++tally.ended[static_cast<std::size_t>(outcome.ending)];
        });
    if (const auto* job = std::get_if<JobId>(&admission)) {
      ++tally.admitted;
      if (random() % 5 == 0) scheduler.cancel(*job);
    } else {
      ++tally.refused;
    }
    if (random() % 32 == 0) std::this_thread::yield();
  }
}

// Two devices, four submitters, one observer; close() comes after the submitters or among them.
void run(std::uint64_t seed, bool close_early, Tally& tally) {
  Scheduler scheduler({.clock = &base::real_clock()});
  for (const char* name : {"cpu", "npu"}) {
    DeviceOptions options;
    options.name = name;
    options.queue_jobs_max = 100;
    options.client_jobs_max = 60;
    options.batch_cost_max = 200;
    options.batch_jobs_max = 8;
    ASSERT_TRUE(scheduler.add_device(options, square).ok());
  }
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { submit_jobs(scheduler, tally, seed * 10 + i, kJobs / 4); });
  }
  std::jthread observer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const DeviceMetrics& metrics : scheduler.metrics()) {
        std::uint64_t ended = 0;
        for (const std::uint64_t count : metrics.ended) ended += count;
        if (metrics.admitted != metrics.queued_jobs + metrics.running_jobs + ended) ++tally.wrong;
      }
      if (scheduler.queue(0).backlog_ms < 0) ++tally.wrong;
      if (scheduler.check(1, {}).has_value() && scheduler.service_estimate_ms(1, 0, 1) < 0) {
        ++tally.wrong;
      }
      std::this_thread::yield();
    }
  });
  if (close_early) {
    while (tally.ended_sum() < 200 && tally.admitted + tally.refused < kJobs) {
      std::this_thread::yield();
    }
    scheduler.close(1);
    tally.closed = true;
  }
  threads.clear();
  scheduler.close(30'000);
  tally.closed = true;
  observer.request_stop();
  observer.join();
  std::uint64_t admitted = 0;
  for (const DeviceMetrics& metrics : scheduler.metrics()) {
    EXPECT_EQ(metrics.queued_jobs + metrics.running_jobs, 0U);
    EXPECT_EQ(metrics.done_exceptions, 0U);
    admitted += metrics.admitted;
  }
  EXPECT_EQ(admitted, tally.admitted);
}

TEST(SchedulerStress, EveryJobEndsOnce) {
  Tally tally;
  run(1, false, tally);
  EXPECT_EQ(tally.wrong, 0U);
  EXPECT_EQ(tally.ended_sum(), tally.admitted);
  EXPECT_EQ(tally.admitted + tally.refused, kJobs);
  EXPECT_EQ(tally.ended[static_cast<std::size_t>(Ending::kClosed)], 0U);
  EXPECT_GT(tally.ended[static_cast<std::size_t>(Ending::kCompleted)], 0U);
  EXPECT_GT(tally.ended[static_cast<std::size_t>(Ending::kFailed)], 0U);
  EXPECT_GT(tally.ended[static_cast<std::size_t>(Ending::kCancelled)], 0U);
}

TEST(SchedulerStress, ClosedAmongSubmitters) {
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    Tally tally;
    run(seed, true, tally);
    EXPECT_EQ(tally.wrong, 0U);
    EXPECT_EQ(tally.ended_sum(), tally.admitted);
    EXPECT_EQ(tally.admitted + tally.refused, kJobs);
  }
}

}  // namespace
}  // namespace layard::scheduler
