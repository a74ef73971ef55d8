#include "scheduler/device_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace layard::scheduler {
namespace {

constexpr std::int64_t kMs = 1'000'000;

DeviceOptions small_options() {
  DeviceOptions options;
  options.queue_jobs_max = 6;
  options.queue_cost_max = 100;
  options.client_jobs_max = 4;
  options.clients_max = 3;
  options.batch_cost_max = 20;
  options.batch_jobs_max = 3;
  options.cost_ms_start = 1;
  return options;
}

// A queue with its time; every unit of cost takes 1 ms unless a test says otherwise.
class Device {
 public:
  explicit Device(const DeviceOptions& options) : queue(options) {}

  static JobSpec spec(ClientId client, std::int64_t cost) {
    JobSpec made;
    made.client = client;
    made.cost = cost;
    return made;
  }
  std::uint64_t admit(const JobSpec& job) {
    auto submitted = queue.submit(job, now_ns, ended);
    if (const auto* refusal = std::get_if<Refusal>(&submitted)) {
      ADD_FAILURE() << refusal->error.message;
      return 0;
    }
    return std::get<std::uint64_t>(submitted);
  }
  std::uint64_t admit(ClientId client, std::int64_t cost) { return admit(spec(client, cost)); }
  Refusal refuse(const JobSpec& job) {
    auto submitted = queue.submit(job, now_ns, ended);
    if (auto* refusal = std::get_if<Refusal>(&submitted)) return *refusal;
    ADD_FAILURE() << "admitted";
    return {};
  }
  std::vector<std::uint64_t> start() { return queue.next_batch(now_ns, ended); }
  void finish(std::size_t jobs) {
    queue.finish(std::vector<std::optional<Error>>(jobs), now_ns, ended);
  }
  // "1 completed, 2 cancelled": what ended since the last call.
  std::string take_ended() {
    std::string text;
    for (const Ended& job : ended) {
      if (!text.empty()) text += ", ";
      text += std::to_string(job.number) + " " + std::string(ending_name(job.ending));
    }
    ended.clear();
    return text;
  }

  DeviceQueue queue;
  std::int64_t now_ns = 0;
  EndedJobs ended;
};

using Numbers = std::vector<std::uint64_t>;

TEST(DeviceQueue, OptionsAreChecked) {
  const auto check = [](auto change, std::string_view named) {
    DeviceOptions options = small_options();
    change(options);
    const Status status = check_device_options(options);
    ASSERT_FALSE(status.ok()) << named;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(status.error().message.find(named), std::string::npos) << status.error().message;
  };
  EXPECT_TRUE(check_device_options(small_options()).ok());
  EXPECT_TRUE(check_device_options({}).ok());
  check([](auto& o) { o.name = ""; }, "name");
  check([](auto& o) { o.name = std::string(65, 'x'); }, "name has 65 bytes");
  check([](auto& o) { o.queue_jobs_max = 0; }, "queue_jobs_max is 0");
  check([](auto& o) { o.queue_jobs_max = 1'000'001; }, "queue_jobs_max");
  check([](auto& o) { o.queue_cost_max = 0; }, "queue_cost_max");
  check([](auto& o) { o.client_jobs_max = 0; }, "client_jobs_max");
  check([](auto& o) { o.clients_max = 0; }, "clients_max");
  check([](auto& o) { o.batch_cost_max = -5; }, "batch_cost_max is -5");
  check([](auto& o) { o.batch_jobs_max = 0; }, "batch_jobs_max");
  check([](auto& o) { o.keys_max = 0; }, "keys_max");
  check([](auto& o) { o.retry_after_ms_max = 0; }, "retry_after_ms_max");
  check([](auto& o) { o.cost_ms_start = 0; }, "cost_ms_start");
  check([](auto& o) { o.cost_ms_start = std::numeric_limits<double>::quiet_NaN(); },
        "cost_ms_start");
}

TEST(DeviceQueue, IdleWaitsForNothing) {
  Device device(small_options());
  EXPECT_EQ(device.admit(1, 5), 1U);
  EXPECT_EQ(device.start(), Numbers{1});
  device.admit(1, 5);
  device.admit(2, 5);
  device.now_ns = 5 * kMs;
  device.finish(1);
  EXPECT_EQ(device.start(), (Numbers{2, 3}));
  device.now_ns = 15 * kMs;
  device.finish(2);
  EXPECT_EQ(device.start(), Numbers{});
  EXPECT_EQ(device.take_ended(), "1 completed, 2 completed, 3 completed");
}

TEST(DeviceQueue, TimesAndWaits) {
  Device device(small_options());
  device.now_ns = 3 * kMs;
  device.admit(1, 5);
  device.now_ns = 10 * kMs;
  device.start();
  device.now_ns = 15 * kMs;
  device.finish(1);
  const Ended& job = device.ended.at(0);
  EXPECT_EQ(job.times.queued_ns, 3 * kMs);
  EXPECT_EQ(job.times.dispatched_ns, 10 * kMs);
  EXPECT_EQ(job.times.ended_ns, 15 * kMs);
  EXPECT_EQ(job.times.queue_wait_ms(), 7);
  EXPECT_EQ(job.batch_jobs, 1U);
  const DeviceMetrics metrics = device.queue.metrics(device.now_ns);
  EXPECT_EQ(metrics.queue_wait.count, 1U);
  EXPECT_EQ(metrics.queue_wait.sum_ms, 7);
  EXPECT_EQ(metrics.queue_wait.buckets[6], 1U);  // above 5, at most 10
  EXPECT_EQ(metrics.running_ms, 5);
  EXPECT_EQ(metrics.batch_cost, 5U);
}

TEST(DeviceQueue, BatchBounds) {
  Device device(small_options());
  for (int i = 0; i < 4; ++i) device.admit(1, 1);
  EXPECT_EQ(device.start(), (Numbers{1, 2, 3}));  // batch_jobs_max
  device.finish(3);
  device.admit(2, 19);
  device.admit(2, 50);
  EXPECT_EQ(device.start(), (Numbers{4, 5}));  // 1 + 19 = batch_cost_max
  device.finish(2);
  EXPECT_EQ(device.start(), (Numbers{6}));  // larger than a batch: alone
}

TEST(DeviceQueue, OnlyOneKeyInABatch) {
  Device device(small_options());
  JobSpec other = Device::spec(2, 1);
  other.key = 9;
  device.admit(1, 1);
  device.admit(other);
  device.admit(3, 1);
  EXPECT_EQ(device.start(), (Numbers{1, 3}));
  device.finish(2);
  EXPECT_EQ(device.start(), (Numbers{2}));
}

TEST(DeviceQueue, RefusesOverItsBounds) {
  const auto check = [](const std::vector<JobSpec>& waiting, const JobSpec& job,
                        RefusalReason reason, std::optional<std::int64_t> retry_after_ms,
                        std::string_view text) {
    Device device(small_options());
    for (const JobSpec& one : waiting) device.admit(one);
    const auto checked = device.queue.check(job, device.now_ns);
    const Refusal refusal = device.refuse(job);
    EXPECT_EQ(refusal.reason, reason);
    EXPECT_EQ(refusal.retry_after_ms, retry_after_ms);
    EXPECT_NE(refusal.error.message.find(text), std::string::npos) << refusal.error.message;
    ASSERT_TRUE(checked.has_value());
    EXPECT_EQ(checked->error.message, refusal.error.message);
    const DeviceMetrics metrics = device.queue.metrics(0);
    EXPECT_EQ(metrics.refused[static_cast<std::size_t>(reason)], 1U);
    EXPECT_EQ(metrics.admitted, waiting.size());
    EXPECT_EQ(metrics.queued_jobs, waiting.size());
  };
  const auto spec = Device::spec;
  check({spec(1, 4), spec(1, 4), spec(1, 4), spec(2, 4), spec(2, 4), spec(2, 4)}, spec(3, 1),
        RefusalReason::kQueueFull, 4, "cpu: 6 jobs wait (queue_jobs_max); try again in 4 ms");
  check({spec(1, 60), spec(2, 20)}, spec(1, 40), RefusalReason::kQueueFull, 20,
        "work of cost 80 waits (queue_cost_max 100); try again in 20 ms");
  check({spec(1, 1), spec(1, 1), spec(1, 1), spec(1, 1)}, spec(1, 1), RefusalReason::kClientFull, 1,
        "4 jobs of this client wait (client_jobs_max)");
  check({spec(1, 1), spec(2, 1), spec(3, 1)}, spec(4, 1), RefusalReason::kClientsFull, 1,
        "3 clients wait (clients_max)");
  check({}, spec(1, 101), RefusalReason::kInvalid, {}, "a job's cost is 101; at most 100 fits");
  check({}, spec(1, 0), RefusalReason::kInvalid, {}, "a job's cost is 0");
  JobSpec estimated = spec(1, 1);
  estimated.service_estimate_ms = -1;
  check({}, estimated, RefusalReason::kInvalid, {}, "service_estimate_ms");
  estimated.service_estimate_ms = std::numeric_limits<double>::infinity();
  check({}, estimated, RefusalReason::kInvalid, {}, "service_estimate_ms");
}

TEST(DeviceQueue, AtItsBoundsIsNotOver) {
  Device device(small_options());
  device.admit(1, 50);
  device.admit(1, 48);
  device.admit(2, 1);
  device.admit(3, 1);  // cost 100, 3 clients
  device.start();      // takes 1: three clients are left
  device.admit(2, 1);
  device.admit(2, 1);
  device.admit(2, 1);  // 4 of this client
  EXPECT_EQ(device.refuse(Device::spec(2, 1)).reason, RefusalReason::kQueueFull);  // 6 jobs
}

TEST(DeviceQueue, RetryAfterIsBounded) {
  DeviceOptions options = small_options();
  options.cost_ms_start = 1e6;
  options.queue_jobs_max = 1;
  options.retry_after_ms_max = 5000;
  Device device(options);
  device.admit(1, 9);
  EXPECT_EQ(device.refuse(Device::spec(1, 1)).retry_after_ms, 5000);
}

TEST(DeviceQueue, RefusesWhatCannotMeetItsDeadline) {
  const auto check = [](std::int64_t running_cost, std::int64_t queued_cost, std::int64_t cost,
                        std::int64_t deadline_ms, std::optional<std::int64_t> retry_after_ms) {
    Device device(small_options());
    if (running_cost > 0) {
      device.admit(1, running_cost);
      device.start();
    }
    if (queued_cost > 0) device.admit(1, queued_cost);
    device.now_ns = 2 * kMs;
    JobSpec job = Device::spec(1, cost);
    job.deadline_ns = device.now_ns + deadline_ms * kMs;
    if (!retry_after_ms.has_value()) {
      EXPECT_FALSE(device.queue.check(job, device.now_ns).has_value());
      device.admit(job);
      return;
    }
    const Refusal refusal = device.refuse(job);
    EXPECT_EQ(refusal.reason, RefusalReason::kDeadline);
    EXPECT_EQ(refusal.error.code, ErrorCode::kOverloaded);
    EXPECT_EQ(refusal.retry_after_ms, retry_after_ms) << refusal.error.message;
  };
  check(0, 0, 50, 1, {});  // idle: tried whatever the estimate says
  check(0, 0, 50, 0, 1);   // but not when it is late already
  check(0, 0, 50, -5, 1);
  check(12, 0, 5, 15, {});  // 10 left of the running one, 5 of its own
  check(12, 0, 5, 14, 1);
  check(12, 20, 5, 35, {});
  check(12, 20, 5, 25, 10);
  check(12, 20, 5, -1, 30);
  check(1, 0, 5, 5, {});  // a batch that runs longer than estimated counts 0
}

TEST(DeviceQueue, ExtremeDeadlines) {
  Device device(small_options());
  device.admit(1, 5);
  JobSpec job = Device::spec(1, 5);
  job.deadline_ns = std::numeric_limits<std::int64_t>::max();
  device.admit(job);
  job.deadline_ns = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(device.refuse(job).reason, RefusalReason::kDeadline);
}

TEST(DeviceQueue, AFloodDoesNotCostOthersTheirDeadline) {
  Device device(small_options());
  for (int i = 0; i < 4; ++i) device.admit(1, 10);
  JobSpec job = Device::spec(2, 10);
  job.deadline_ns = 20 * kMs;  // one of theirs, then this
  device.admit(job);
  job.client = 1;
  job.deadline_ns = 45 * kMs;
  EXPECT_EQ(device.refuse(job).reason, RefusalReason::kClientFull);
}

TEST(DeviceQueue, ExpiresInTheQueueOnly) {
  Device device(small_options());
  JobSpec job = Device::spec(1, 1);
  job.deadline_ns = 10 * kMs;
  device.admit(job);   // 1 runs past its deadline
  device.admit(job);   // 2 runs in time
  device.admit(1, 1);  // 3 has no deadline
  device.queue.cancel(2, 0, device.ended);
  EXPECT_EQ(device.start(), (Numbers{1, 3}));
  job.deadline_ns = 12 * kMs;
  device.admit(job);  // 4 waits
  EXPECT_EQ(device.queue.next_deadline_ns(), 12 * kMs);
  device.now_ns = 12 * kMs - 1;
  device.queue.tick(device.now_ns, device.ended);
  EXPECT_EQ(device.take_ended(), "2 cancelled");
  device.now_ns = 12 * kMs;
  device.queue.tick(device.now_ns, device.ended);
  ASSERT_EQ(device.ended.size(), 1U);
  EXPECT_EQ(device.ended[0].ending, Ending::kExpired);
  EXPECT_EQ(device.ended[0].error->code, ErrorCode::kOverloaded);
  EXPECT_EQ(device.ended[0].error->message,
            "cpu: the deadline passed after 12 ms in the queue; try again in 1 ms");
  EXPECT_EQ(device.ended[0].retry_after_ms, 1);
  EXPECT_EQ(device.ended[0].times.queue_wait_ms(), 12);
  EXPECT_EQ(device.ended[0].batch_jobs, 0U);
  EXPECT_FALSE(device.queue.next_deadline_ns().has_value());
  device.finish(2);
  EXPECT_EQ(device.take_ended(), "4 expired, 1 completed, 3 completed");
}

TEST(DeviceQueue, ExpiredJobsMakeRoomAndNeverStart) {
  Device device(small_options());
  device.admit(1, 1);
  device.start();
  JobSpec job = Device::spec(1, 1);
  job.deadline_ns = 10 * kMs;
  for (int i = 0; i < 4; ++i) device.admit(job);
  device.now_ns = 10 * kMs;
  device.admit(1, 1);  // the four are gone
  device.finish(1);
  EXPECT_EQ(device.take_ended(), "2 expired, 3 expired, 4 expired, 5 expired, 1 completed");
  job.deadline_ns = 20 * kMs;
  device.admit(job);
  device.now_ns = 20 * kMs;
  EXPECT_EQ(device.start(), Numbers{6});
  EXPECT_EQ(device.take_ended(), "7 expired");
}

TEST(DeviceQueue, Cancel) {
  Device device(small_options());
  device.admit(1, 1);
  device.admit(1, 1);
  device.start();  // both run
  device.admit(1, 1);
  EXPECT_TRUE(device.queue.cancel(3, 0, device.ended));
  EXPECT_EQ(device.ended[0].error->code, ErrorCode::kCancelled);
  EXPECT_EQ(device.take_ended(), "3 cancelled");
  EXPECT_FALSE(device.queue.cancel(3, 0, device.ended));
  EXPECT_FALSE(device.queue.cancel(77, 0, device.ended));
  EXPECT_TRUE(device.queue.cancel(2, 0, device.ended));
  EXPECT_FALSE(device.queue.cancel(2, 0, device.ended));
  EXPECT_EQ(device.take_ended(), "");
  EXPECT_EQ(device.queue.metrics(0).running_jobs, 2U);
  device.finish(2);
  EXPECT_FALSE(device.queue.cancel(1, 0, device.ended));
  EXPECT_EQ(device.take_ended(), "1 completed, 2 cancelled");
}

TEST(DeviceQueue, FailuresAreTheJobsOwnAndTeachNothing) {
  Device device(small_options());
  device.admit(1, 4);
  device.admit(1, 4);
  device.start();
  device.now_ns = 80 * kMs;
  std::vector<std::optional<Error>> errors(2);
  errors[1] = Error{ErrorCode::kUnsupportedShape, "too long"};
  device.queue.finish(errors, device.now_ns, device.ended);
  EXPECT_EQ(device.ended[1].error->message, "too long");
  EXPECT_EQ(device.take_ended(), "1 completed, 2 failed");
  EXPECT_EQ(device.queue.service().job_ns(0, 1), kMs);
}

TEST(DeviceQueue, EstimatesFollowMeasurements) {
  Device device(small_options());
  device.admit(1, 10);
  device.start();
  device.now_ns = 30 * kMs;
  device.finish(1);
  EXPECT_EQ(device.queue.service().job_ns(0, 1), 2 * kMs);
  device.admit(1, 10);
  EXPECT_EQ(device.queue.snapshot(device.now_ns).backlog_ms, 20);
}

TEST(DeviceQueue, BacklogIsQueuedPlusWhatIsLeft) {
  Device device(small_options());
  const auto backlog = [&] { return device.queue.snapshot(device.now_ns).backlog_ms; };
  EXPECT_EQ(backlog(), 0);
  device.admit(1, 10);
  EXPECT_EQ(backlog(), 10);
  device.start();
  JobSpec known = Device::spec(1, 1);
  known.service_estimate_ms = 7.5;
  device.admit(known);
  EXPECT_EQ(backlog(), 17.5);
  device.now_ns = 4 * kMs;
  EXPECT_EQ(backlog(), 13.5);
  EXPECT_TRUE(device.queue.snapshot(device.now_ns).running);
  EXPECT_EQ(device.queue.snapshot(device.now_ns).queued_jobs, 1U);
  device.now_ns = 40 * kMs;
  EXPECT_EQ(backlog(), 7.5);
  device.finish(1);
  EXPECT_EQ(backlog(), 7.5);
  EXPECT_FALSE(device.queue.snapshot(device.now_ns).running);
}

TEST(DeviceQueue, ClosingRefusesThenEndsTheQueue) {
  Device device(small_options());
  device.admit(1, 1);
  device.start();
  device.admit(1, 1);
  device.admit(2, 1);
  device.queue.stop_admitting();
  const Refusal refusal = device.refuse(Device::spec(1, 1));
  EXPECT_EQ(refusal.reason, RefusalReason::kClosed);
  EXPECT_EQ(refusal.error.code, ErrorCode::kBackendUnavailable);
  EXPECT_FALSE(refusal.retry_after_ms.has_value());
  device.finish(1);
  EXPECT_EQ(device.take_ended(), "1 completed");
  device.queue.close_queued(0, device.ended);
  EXPECT_EQ(device.ended[0].error->code, ErrorCode::kBackendUnavailable);
  EXPECT_EQ(device.take_ended(), "2 closed, 3 closed");
  EXPECT_FALSE(device.queue.has_queued());
  EXPECT_EQ(device.start(), Numbers{});
}

// Two clients that always have enough to fill a batch: what each is given, in cost, over 200
// batches.
std::array<std::int64_t, 2> shares(std::array<std::int64_t, 2> cost, std::int64_t batch_cost_max) {
  DeviceOptions options;
  options.batch_cost_max = batch_cost_max;
  options.batch_jobs_max = 1000;
  Device device(options);
  std::vector<std::size_t> client_of(1);  // by job number
  std::array<std::int64_t, 2> given{};
  std::array<int, 2> waiting{};
  for (int batch = 0; batch < 200; ++batch) {
    for (std::size_t client = 0; client < 2; ++client) {
      for (; waiting[client] < 100; ++waiting[client]) {
        client_of.push_back(client);
        device.admit(client, cost[client]);
      }
    }
    const Numbers numbers = device.start();
    for (const std::uint64_t number : numbers) {
      given[client_of[number]] += cost[client_of[number]];
      --waiting[client_of[number]];
    }
    device.finish(numbers.size());
  }
  return given;
}

TEST(DeviceQueue, SharesAreEqualInCost) {
  const auto check = [](std::array<std::int64_t, 2> cost, std::int64_t batch_cost_max) {
    const auto [one, two] = shares(cost, batch_cost_max);
    EXPECT_NEAR(static_cast<double>(one) / static_cast<double>(two), 1, 0.02) << one << " " << two;
  };
  check({10, 10}, 100);
  check({50, 5}, 100);
  check({7, 30}, 100);
  check({100, 1}, 100);
}

}  // namespace
}  // namespace layard::scheduler
