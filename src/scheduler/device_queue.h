/// One device as a state machine: what is queued, what runs, what ended. Knows no thread and no
/// clock; every call is told the time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/client_circle.h"
#include "scheduler/scheduler.h"
#include "scheduler/service_estimate.h"

namespace layard::scheduler {

/// Errors: kInvalidRequest naming the option.
Status check_device_options(const DeviceOptions& options);

/// The end of a job, without what it carried.
struct Ended {
  std::uint64_t number = 0;
  Ending ending = Ending::kCompleted;
  std::optional<Error> error;
  std::optional<std::int64_t> retry_after_ms;
  JobTimes times;
  std::size_t batch_jobs = 0;
};

/// Where a call puts the jobs that ended through it.
using EndedJobs = std::vector<Ended>;

/// `now_ns` never goes back between calls. Thread-safety: none; its owner locks.
class DeviceQueue {
 public:
  /// REQUIRES: check_device_options(options).
  explicit DeviceQueue(const DeviceOptions& options);

  /// Why `spec` would be refused now. Counts nothing.
  std::optional<Refusal> check(const JobSpec& spec, std::int64_t now_ns) const;

  /// Ends what has expired, then admits the job under a number that grows, or counts a refusal.
  std::variant<std::uint64_t, Refusal> submit(const JobSpec& spec, std::int64_t now_ns,
                                              EndedJobs& ended);

  /// Ends what has expired, then starts a batch: its jobs' numbers, at most batch_jobs_max. Empty
  /// when nothing is queued. REQUIRES: no batch runs.
  std::vector<std::uint64_t> next_batch(std::int64_t now_ns, EndedJobs& ended);

  /// Ends the running batch; errors[i] is of the batch's job i. The time is learned from when no
  /// job failed. REQUIRES: a batch runs; one element per job.
  void finish(std::span<const std::optional<Error>> errors, std::int64_t now_ns, EndedJobs& ended);

  /// See Scheduler::cancel.
  bool cancel(std::uint64_t number, std::int64_t now_ns, EndedJobs& ended);

  /// Ends queued jobs whose deadline is not after `now_ns`.
  void tick(std::int64_t now_ns, EndedJobs& ended);

  /// Refuses all that comes.
  void stop_admitting() { admitting_ = false; }

  /// Ends all that is queued as kClosed. REQUIRES: stop_admitting() was called.
  void close_queued(std::int64_t now_ns, EndedJobs& ended);

  bool has_queued() const { return circle_.jobs() > 0; }
  bool is_running() const { return !running_.empty(); }
  std::optional<std::int64_t> next_deadline_ns() const;

  QueueSnapshot snapshot(std::int64_t now_ns) const;
  /// All but done_exceptions, which belongs to whoever calls DoneFunctions.
  DeviceMetrics metrics(std::int64_t now_ns) const;
  const ServiceEstimate& service() const { return service_; }

 private:
  struct RunningJob {
    QueuedJob job;
    bool cancelled = false;
  };

  std::optional<Refusal> check_spec(const JobSpec& spec) const;
  std::optional<Refusal> check_room(const JobSpec& spec, std::int64_t now_ns) const;
  std::optional<Refusal> check_deadline(const JobSpec& spec, std::int64_t now_ns) const;
  Refusal overloaded(RefusalReason reason, const std::string& found, double wait_ns) const;
  std::int64_t job_ns(const JobSpec& spec) const;
  std::int64_t running_left_ns(std::int64_t now_ns) const;
  std::int64_t retry_after_ms(double wait_ns) const;
  void start(const QueuedJob& job, std::int64_t now_ns);
  void end(Ended ended, EndedJobs& out);
  void leave_queue(const QueuedJob& job, Ended ended, EndedJobs& out);

  DeviceOptions options_;
  ClientCircle circle_;
  ServiceEstimate service_;
  std::set<std::pair<std::int64_t, std::uint64_t>> deadlines_;  // of queued jobs: time, number
  bool admitting_ = true;
  std::uint64_t last_number_ = 0;

  std::vector<RunningJob> running_;  // the running batch, in its order
  std::int64_t running_cost_ = 0;
  std::int64_t running_estimate_ns_ = 0;
  std::int64_t running_since_ns_ = 0;

  DeviceMetrics counts_;  // only its counters are kept up
};

}  // namespace layard::scheduler
