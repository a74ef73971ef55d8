/// One device at work: its queue under a lock, the thread that runs batches and the one that
/// watches deadlines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "scheduler/device_queue.h"
#include "scheduler/scheduler.h"

namespace layard::scheduler {

/// Contracts as in Scheduler, for one device. No function of the caller's is called under the lock.
/// Thread-safety: any number of callers, where begin_close() and join() are called in this order by
/// one of them, and without threads all calls come from one thread.
class Lane {
 public:
  /// `clock` outlives the lane. REQUIRES: check_device_options(options).
  Lane(DeviceId id, const DeviceOptions& options, RunFunction run, const base::Clock& clock);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  /// REQUIRES: never started, or joined.
  ~Lane() = default;

  void start_threads();

  std::optional<Refusal> check(const JobSpec& spec) const;
  Admission submit(const JobSpec& spec, std::unique_ptr<Payload> payload, DoneFunction done);
  bool cancel(std::uint64_t number);
  void tick();
  /// Runs the next batch on the calling thread; false when nothing is queued. Only one at a time.
  bool step(const std::stop_token& stop);

  QueueSnapshot queue() const;
  double service_estimate_ms(BatchKey key, std::int64_t cost) const;
  DeviceMetrics metrics() const;

  void stop_admitting();
  /// Waits until nothing is queued, runs or is being handed to a DoneFunction; at most `wait_ms`.
  void wait_until_idle(std::int64_t wait_ms);
  /// Ends what is queued, asks the running function to stop. Returns how many jobs it ended.
  std::size_t begin_close();
  /// Waits for the threads and for DoneFunctions called by others.
  void join();

 private:
  struct Held {
    std::unique_ptr<Payload> payload;
    DoneFunction done;
  };
  struct Delivery {
    Outcome outcome;
    DoneFunction done;
  };

  std::vector<Delivery> collect(EndedJobs ended);  // REQUIRES: mutex_ is held
  void deliver(std::vector<Delivery> deliveries);
  bool is_idle() const;  // REQUIRES: mutex_ is held
  Status call(std::span<BatchJob> jobs, const std::stop_token& stop) const;
  void work(const std::stop_token& stop);
  void watch_deadlines(const std::stop_token& stop);

  const DeviceId id_;
  const std::string name_;
  const RunFunction run_;
  const base::Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable_any queued_;            // something was queued
  std::condition_variable_any deadline_changed_;  // the earliest deadline is another
  std::condition_variable_any idle_;              // is_idle() may have become true
  DeviceQueue queue_;
  std::unordered_map<std::uint64_t, Held> held_;  // by job number, from submit to its end
  std::size_t delivering_ = 0;                    // threads between an end and its DoneFunction
  std::uint64_t done_exceptions_ = 0;

  std::jthread worker_;  // last: they use everything above
  std::jthread timer_;
};

}  // namespace layard::scheduler
