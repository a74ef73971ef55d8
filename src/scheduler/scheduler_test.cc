#include "scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <limits>
#include <semaphore>
#include <thread>

namespace layard::scheduler {
namespace {

// A wait that is over long before this in any run that passes.
constexpr auto kLong = std::chrono::seconds(30);
constexpr std::int64_t kLongMs = 30'000;

struct Nothing final : Payload {};

DeviceOptions named(std::string name) {
  DeviceOptions options;
  options.name = std::move(name);
  return options;
}

Status run_nothing(std::span<BatchJob>, const std::stop_token&) { return {}; }

// A scheduler on the machine's clock whose device "cpu" runs when it is let.
class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() {
    cpu_ = *scheduler_.add_device(
        named("cpu"),
        [this](std::span<BatchJob>, const std::stop_token& stop) { return block(stop); });
  }
  ~SchedulerTest() override { open_.request_stop(); }

  Status block(const std::stop_token& stop) {
    started_.release();
    base::RealClock clock;
    // Whichever comes first: opened by the test, or asked to stop.
    const std::stop_callback forward(stop, [this] { wake_.request_stop(); });
    const std::stop_callback opened(open_.get_token(), [this] { wake_.request_stop(); });
    clock.sleep_ms(kLongMs, wake_.get_token());
    if (stop.stop_requested() && !open_.stop_requested()) {
      return Error{ErrorCode::kCancelled, "stopped in the middle"};
    }
    return {};
  }
  void wait_for_start() { ASSERT_TRUE(started_.try_acquire_for(kLong)); }
  void open() { open_.request_stop(); }

  // Submits; what it ended as.
  std::future<Ending> submit(DeviceId device, const JobSpec& spec) {
    auto promise = std::make_shared<std::promise<Ending>>();
    const Admission admission = scheduler_.submit(
        device, spec, std::make_unique<Nothing>(),
        [promise](const Outcome& outcome) { promise->set_value(outcome.ending); });
    if (const auto* job = std::get_if<JobId>(&admission)) {
      last_ = *job;
    } else {
      ADD_FAILURE() << std::get<Refusal>(admission).error.message;
    }
    return promise->get_future();
  }
  static Ending get(std::future<Ending>& future) {
    if (future.wait_for(kLong) != std::future_status::ready) {
      ADD_FAILURE() << "never ended";
      return Ending::kClosed;
    }
    return future.get();
  }

  std::counting_semaphore<1000> started_{0};
  std::stop_source open_;
  std::stop_source wake_;
  JobId last_;
  DeviceId cpu_ = 0;
  Scheduler scheduler_{{.clock = &base::real_clock()}};
};

TEST_F(SchedulerTest, DevicesAreChecked) {
  const auto check = [&](const DeviceOptions& options, std::string_view text) {
    const auto added = scheduler_.add_device(options, run_nothing);
    ASSERT_FALSE(added.ok());
    EXPECT_EQ(added.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(added.error().message.find(text), std::string::npos) << added.error().message;
  };
  check(named(""), "name has 0 bytes");
  check(named("cpu"), "there is a device 'cpu' already");
  EXPECT_EQ(*scheduler_.add_device(named("npu"), run_nothing), 1U);
  for (int i = 2; i < 16; ++i) {
    EXPECT_TRUE(scheduler_.add_device(named("lane" + std::to_string(i)), run_nothing).ok());
  }
  check(named("one more"), "one more: there are 16 devices already (devices_max)");
}

TEST_F(SchedulerTest, UnknownDevice) {
  const Admission admission =
      scheduler_.submit(7, {}, std::make_unique<Nothing>(), [](const Outcome&) { FAIL(); });
  ASSERT_TRUE(std::holds_alternative<Refusal>(admission));
  EXPECT_EQ(std::get<Refusal>(admission).error.code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(scheduler_.check(7, {})->reason, RefusalReason::kInvalid);
  EXPECT_FALSE(scheduler_.cancel({7, 1}));
  EXPECT_EQ(scheduler_.queue(7).backlog_ms, 0);
  EXPECT_EQ(scheduler_.service_estimate_ms(7, 0, 1), 0);
}

TEST_F(SchedulerTest, DevicesWorkSideBySide) {
  const DeviceId npu = *scheduler_.add_device(named("npu"), run_nothing);
  auto blocked = submit(cpu_, {});
  wait_for_start();
  auto free = submit(npu, {});
  EXPECT_EQ(get(free), Ending::kCompleted);
  EXPECT_TRUE(scheduler_.queue(cpu_).running);
  open();
  EXPECT_EQ(get(blocked), Ending::kCompleted);
  const auto metrics = scheduler_.metrics();
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].name, "cpu");
  EXPECT_EQ(metrics[1].name, "npu");
  EXPECT_EQ(metrics[1].ended[static_cast<std::size_t>(Ending::kCompleted)], 1U);
}

TEST_F(SchedulerTest, ABusyDeviceStillExpiresAndCancels) {
  auto blocked = submit(cpu_, {});
  wait_for_start();
  JobSpec spec;
  spec.deadline_ns = base::real_clock().now_ns() + 100'000'000;
  auto late = submit(cpu_, spec);
  auto unwanted = submit(cpu_, {});
  EXPECT_TRUE(scheduler_.cancel(last_));
  EXPECT_EQ(get(unwanted), Ending::kCancelled);
  EXPECT_EQ(get(late), Ending::kExpired);
  EXPECT_EQ(blocked.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

TEST_F(SchedulerTest, AnEarlierDeadlineWakesTheTimer) {
  auto blocked = submit(cpu_, {});
  wait_for_start();
  JobSpec spec;
  spec.deadline_ns = std::numeric_limits<std::int64_t>::max();
  auto patient = submit(cpu_, spec);
  spec.deadline_ns = base::real_clock().now_ns() + 100'000'000;
  auto late = submit(cpu_, spec);
  EXPECT_EQ(get(late), Ending::kExpired);
  open();
  EXPECT_EQ(get(patient), Ending::kCompleted);
}

TEST_F(SchedulerTest, CloseDrains) {
  std::vector<std::future<Ending>> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(submit(cpu_, {}));
  open();
  EXPECT_TRUE(scheduler_.close(kLongMs));
  for (auto& job : jobs) {
    ASSERT_EQ(job.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    EXPECT_EQ(job.get(), Ending::kCompleted);
  }
  const auto refusal = scheduler_.check(cpu_, {});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->error.code, ErrorCode::kBackendUnavailable);
  const auto added = scheduler_.add_device(named("late"), run_nothing);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_TRUE(scheduler_.close(0));
}

TEST_F(SchedulerTest, CloseHasABound) {
  auto running = submit(cpu_, {});
  wait_for_start();
  auto waiting = submit(cpu_, {});
  EXPECT_FALSE(scheduler_.close(20));
  EXPECT_EQ(get(waiting), Ending::kClosed);
  EXPECT_EQ(get(running), Ending::kFailed);  // its function saw the stop
}

// What a DoneFunction captured may be the last owner of something: it is gone too.
TEST_F(SchedulerTest, CloseWaitsForWhatOthersDeliver) {
  auto running = submit(cpu_, {});
  wait_for_start();
  std::latch releasing(1);
  std::atomic<bool> released{false};
  std::shared_ptr<int> slow(new int(0), [&](const int* value) {
    releasing.count_down();
    base::RealClock().sleep_ms(50, {});
    delete value;
    released = true;
  });
  DoneFunction done = [held = std::move(slow)](const Outcome&) {};
  const Admission admission =
      scheduler_.submit(cpu_, {}, std::make_unique<Nothing>(), std::move(done));
  std::jthread canceller([&] { scheduler_.cancel(std::get<JobId>(admission)); });
  releasing.wait();
  open();
  scheduler_.close(kLongMs);
  EXPECT_TRUE(released);
  EXPECT_EQ(get(running), Ending::kCompleted);
}

TEST_F(SchedulerTest, StopAdmittingLetsTheRestGoOn) {
  auto running = submit(cpu_, {});
  auto waiting = submit(cpu_, {});
  scheduler_.stop_admitting();
  EXPECT_EQ(scheduler_.check(cpu_, {})->reason, RefusalReason::kClosed);
  open();
  EXPECT_EQ(get(running), Ending::kCompleted);
  EXPECT_EQ(get(waiting), Ending::kCompleted);
}

TEST_F(SchedulerTest, TheDestructorEndsEverything) {
  auto promise = std::make_shared<std::promise<Ending>>();
  auto future = promise->get_future();
  {
    Scheduler scheduler({.clock = &base::real_clock()});
    std::latch started(1);
    const DeviceId device = *scheduler.add_device(
        named("cpu"), [&](std::span<BatchJob>, const std::stop_token& stop) -> Status {
          started.count_down();
          base::RealClock().sleep_ms(kLongMs, stop);
          return {};
        });
    scheduler.submit(device, {}, std::make_unique<Nothing>(), [](const Outcome&) {});
    started.wait();
    scheduler.submit(device, {}, std::make_unique<Nothing>(),
                     [promise](const Outcome& outcome) { promise->set_value(outcome.ending); });
  }
  EXPECT_EQ(get(future), Ending::kClosed);
}

// Without threads every step is the caller's.
TEST(SchedulerByHand, StepAndTick) {
  base::FakeClock clock;
  Scheduler scheduler({.clock = &clock, .threads = false});
  const DeviceId cpu = *scheduler.add_device(named("cpu"), run_nothing);
  const DeviceId npu = *scheduler.add_device(named("npu"), run_nothing);
  std::string log;
  const auto submit = [&](DeviceId device, const JobSpec& spec, const char* name) {
    scheduler.submit(device, spec, std::make_unique<Nothing>(), [&log, name](const Outcome& o) {
      log += std::string(name) + " " + std::string(ending_name(o.ending)) + "\n";
    });
  };
  submit(cpu, {}, "a");
  submit(npu, {}, "b");
  JobSpec spec;
  spec.deadline_ns = 1'000'000;
  submit(npu, spec, "c");
  clock.advance_ns(1'000'000);
  scheduler.tick();
  EXPECT_EQ(log, "c expired\n");
  EXPECT_TRUE(scheduler.step(npu));
  EXPECT_FALSE(scheduler.step(npu));
  EXPECT_TRUE(scheduler.step(cpu));
  EXPECT_FALSE(scheduler.step(9));
  EXPECT_EQ(log, "c expired\nb completed\na completed\n");
  submit(cpu, {}, "d");
  EXPECT_FALSE(scheduler.close(1000));
  EXPECT_EQ(log, "c expired\nb completed\na completed\nd closed\n");
}

}  // namespace
}  // namespace layard::scheduler
