#include "scheduler/lane.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace layard::scheduler {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Text final : Payload {
  explicit Text(std::string value) : text(std::move(value)) {}
  std::string text;
};

using RunJobs = std::function<Status(std::span<BatchJob>)>;

Status add_mark(std::span<BatchJob> jobs) {
  for (BatchJob& job : jobs) static_cast<Text*>(job.payload)->text += "!";
  return {};
}

// One device without threads, on a fake clock.
class LaneTest : public testing::Test {
 protected:
  LaneTest() {
    options_.batch_jobs_max = 2;
    options_.cost_ms_start = 1;
  }

  Lane& lane() {
    if (lane_ == nullptr) {
      lane_ = std::make_unique<Lane>(
          3, options_,
          [this](std::span<BatchJob> jobs, const std::stop_token&) { return run_(jobs); }, clock_);
    }
    return *lane_;
  }

  Admission submit(const std::string& text, const JobSpec& spec) {
    return lane().submit(spec, std::make_unique<Text>(text), [this](Outcome outcome) {
      log_ += static_cast<Text&>(*outcome.payload).text + " " +
              std::string(ending_name(outcome.ending));
      if (outcome.error.has_value()) {
        log_ +=
            ": " + std::string(error_type_name(outcome.error->code)) + " " + outcome.error->message;
      }
      log_ += "\n";
    });
  }
  std::uint64_t admit(const std::string& text) {
    const Admission admission = submit(text, {});
    EXPECT_TRUE(std::holds_alternative<JobId>(admission));
    return std::get<JobId>(admission).number;
  }
  std::string take_log() { return std::exchange(log_, ""); }

  DeviceOptions options_;
  base::FakeClock clock_;
  RunJobs run_{add_mark};
  std::string log_;
  std::unique_ptr<Lane> lane_;
};

TEST_F(LaneTest, PayloadsGoInAndComeBack) {
  EXPECT_EQ(std::get<JobId>(submit("a", {})), (JobId{3, 1}));
  admit("b");
  admit("c");
  EXPECT_TRUE(lane().step({}));
  EXPECT_EQ(take_log(), "a! completed\nb! completed\n");
  EXPECT_TRUE(lane().step({}));
  EXPECT_EQ(take_log(), "c! completed\n");
  EXPECT_FALSE(lane().step({}));
}

TEST_F(LaneTest, AnExceptionFailsItsBatchOnly) {
  admit("a");
  admit("b");
  admit("c");
  run_ = [](std::span<BatchJob>) -> Status { throw std::runtime_error(std::string(300, 'x')); };
  lane().step({});
  const std::string message = "InternalError cpu: the batch ended with an exception: ";
  EXPECT_EQ(take_log(), "a failed: " + message + std::string(200, 'x') + "\nb failed: " + message +
                            std::string(200, 'x') + "\n");
  run_ = [](std::span<BatchJob>) -> Status { throw 5; };
  lane().step({});
  EXPECT_EQ(take_log(), "c failed: InternalError cpu: the batch ended with an unknown exception\n");
  run_ = add_mark;
  admit("d");
  lane().step({});
  EXPECT_EQ(take_log(), "d! completed\n");
}

TEST_F(LaneTest, ErrorsOfABatchAndOfAJob) {
  admit("a");
  admit("b");
  run_ = [](std::span<BatchJob> jobs) -> Status {
    jobs[1].error = Error{ErrorCode::kUnsupportedShape, "too long"};
    return {};
  };
  lane().step({});
  EXPECT_EQ(take_log(), "a completed\nb failed: UnsupportedShapeError too long\n");
  admit("c");
  run_ = [](std::span<BatchJob> jobs) -> Status {
    jobs[0].error = Error{ErrorCode::kUnsupportedShape, "hidden by the batch's own"};
    return Error{ErrorCode::kIo, "lost"};
  };
  lane().step({});
  EXPECT_EQ(take_log(), "c failed: IoError lost\n");
}

TEST_F(LaneTest, CancelledWhileItRunsItsResultIsDropped) {
  admit("a");
  const std::uint64_t b = admit("b");
  run_ = [&](std::span<BatchJob> jobs) -> Status {
    EXPECT_EQ(jobs.size(), 2U);
    EXPECT_TRUE(lane().cancel(b));
    EXPECT_FALSE(lane().cancel(b));
    EXPECT_EQ(lane().metrics().running_jobs, 2U);
    EXPECT_EQ(log_, "");
    return {};
  };
  lane().step({});
  EXPECT_EQ(take_log(), "a completed\nb cancelled: CancelledError cpu: cancelled while it ran\n");
}

TEST_F(LaneTest, CancelledInTheQueueItNeverRuns) {
  const std::uint64_t a = admit("a");
  EXPECT_TRUE(lane().cancel(a));
  EXPECT_EQ(take_log(), "a cancelled: CancelledError cpu: cancelled before it ran\n");
  EXPECT_FALSE(lane().step({}));
}

TEST_F(LaneTest, DeadlinesOnTheClockGiven) {
  admit("a");
  JobSpec spec;
  spec.deadline_ns = 5 * kMs;
  submit("b", spec);
  clock_.advance_ns(5 * kMs - 1);
  lane().tick();
  EXPECT_EQ(take_log(), "");
  clock_.advance_ns(1);
  lane().tick();
  EXPECT_EQ(take_log(),
            "b expired: OverloadedError cpu: the deadline passed after 5 ms in the "
            "queue; try again in 1 ms\n");
  lane().step({});
  EXPECT_EQ(take_log(), "a! completed\n");
}

TEST_F(LaneTest, SubmitTellsOfWhatExpiredMeanwhile) {
  JobSpec spec;
  spec.deadline_ns = 5 * kMs;
  submit("a", spec);
  clock_.advance_ns(6 * kMs);
  admit("b");
  EXPECT_EQ(take_log().substr(0, 10), "a expired:");
}

TEST_F(LaneTest, RefusedPayloadsAreDestroyedUntold) {
  options_.queue_jobs_max = 1;
  admit("a");
  auto watched = std::make_shared<int>(0);
  const Admission admission =
      lane().submit({}, std::make_unique<Text>("b"), [watched](const Outcome&) { FAIL(); });
  ASSERT_TRUE(std::holds_alternative<Refusal>(admission));
  EXPECT_EQ(std::get<Refusal>(admission).reason, RefusalReason::kQueueFull);
  EXPECT_EQ(watched.use_count(), 1);
}

TEST_F(LaneTest, DoneMayCallBackAndThrow) {
  const JobSpec spec;
  lane().submit(spec, std::make_unique<Text>("a"), [&](const Outcome&) {
    admit("b");
    EXPECT_EQ(lane().metrics().queued_jobs, 2U);
    throw std::runtime_error("not ours");
  });
  admit("c");
  admit("d");
  lane().step({});  // a and c
  EXPECT_EQ(take_log(), "c! completed\n");
  EXPECT_EQ(lane().metrics().done_exceptions, 1U);
  lane().step({});
  EXPECT_EQ(take_log(), "d! completed\nb! completed\n");
}

TEST_F(LaneTest, WhatDoneCapturedIsReleased) {
  auto watched = std::make_shared<int>(0);
  lane().submit({}, std::make_unique<Text>("a"), [watched](const Outcome&) {});
  EXPECT_EQ(watched.use_count(), 2);
  lane().step({});
  EXPECT_EQ(watched.use_count(), 1);
}

TEST_F(LaneTest, CloseEndsWhatIsQueued) {
  admit("a");
  admit("b");
  EXPECT_EQ(lane().begin_close(), 2U);
  EXPECT_EQ(take_log(),
            "a closed: BackendUnavailableError cpu: closed before this request ran\n"
            "b closed: BackendUnavailableError cpu: closed before this request ran\n");
  lane().join();
  const Admission admission = submit("c", {});
  ASSERT_TRUE(std::holds_alternative<Refusal>(admission));
  EXPECT_EQ(std::get<Refusal>(admission).reason, RefusalReason::kClosed);
}

TEST_F(LaneTest, EstimatesAndBacklog) {
  JobSpec spec;
  spec.cost = 10;
  submit("a", spec);
  EXPECT_EQ(lane().queue().backlog_ms, 10);
  EXPECT_EQ(lane().service_estimate_ms(0, 10), 10);
  run_ = [&](std::span<BatchJob>) -> Status {
    clock_.advance_ns(30 * kMs);
    return {};
  };
  lane().step({});
  EXPECT_EQ(lane().service_estimate_ms(0, 10), 20);
  EXPECT_EQ(lane().service_estimate_ms(1, 10), 10);
}

}  // namespace
}  // namespace layard::scheduler
