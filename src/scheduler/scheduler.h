/// Queues in front of compute devices: admits, orders, groups and times jobs it cannot look into.
///
/// Invariants:
/// - A job that was admitted ends exactly once, by exactly one call of its DoneFunction; a job that
///   was refused never runs and its DoneFunction is never called.
/// - A device runs one batch at a time. Jobs of one client start in the order they were submitted.
/// - A client with queued work waits for at most as many batches as there are clients with queued
///   work before its oldest job starts (see DeviceOptions).
/// - No queue, wait or table grows past a bound named in DeviceOptions; nothing moves from one
///   device to another.
/// - Counters add up at every moment (see DeviceMetrics).
///
/// A device is a name, bounds and a function that runs a batch. Further devices are further calls
/// of add_device(); which device a job goes to is the caller's choice, made from queue().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "layard/error.h"

namespace layard::scheduler {

/// Index of a device in the order of add_device().
using DeviceId = std::size_t;

/// Whose turn it is: jobs of equal ids share one turn. The caller decides what a client is (an API
/// key, an address, a connection).
using ClientId = std::uint64_t;

/// Only jobs of equal keys share a batch (one checkpoint and number format, say). At most
/// DeviceOptions::keys_max keys have an estimate of their own at a time.
using BatchKey = std::uint64_t;

/// Names an admitted job; never given twice.
struct JobId {
  DeviceId device = 0;
  std::uint64_t number = 0;
  bool operator==(const JobId&) const = default;
};

/// What a job carries from its submitter to the device's function and back: derive from it and put
/// input and output in. Owned by the scheduler from submit() until the job ends, then handed to
/// DoneFunction. Only one thread at a time uses it.
class Payload {
 public:
  virtual ~Payload() = default;
  Payload() = default;
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
};

/// What admission has to know about a job.
struct JobSpec {
  ClientId client = 0;
  BatchKey key = 0;
  /// Size in the device's unit of work (tokens, for ours); 1..DeviceOptions::queue_cost_max.
  std::int64_t cost = 1;
  /// On the scheduler's clock. A job that has not started by then ends as kExpired; one that has
  /// started is not interrupted.
  std::optional<std::int64_t> deadline_ns;
  /// How long the device needs for this job alone, where the caller knows better than the learned
  /// time per cost; finite, at least 0.
  std::optional<double> service_estimate_ms;
};

/// How an admitted job ended.
enum class Ending : std::uint8_t {
  kCompleted,  ///< it ran; the payload holds the result
  kFailed,     ///< it ran and failed: the function's own error, or kInternal when it threw
  kCancelled,  ///< cancel(); a running job ends with its batch and its result is dropped
  kExpired,    ///< its deadline passed in the queue; it did not run
  kClosed,     ///< the scheduler closed before it ran
};
inline constexpr std::size_t kEndings = 5;

/// `completed`, `failed`, `cancelled`, `expired`, `closed`: words for metrics.
std::string_view ending_name(Ending ending);

/// When a job was where, on the scheduler's clock.
struct JobTimes {
  std::int64_t queued_ns = 0;                 ///< admitted
  std::optional<std::int64_t> dispatched_ns;  ///< its batch was taken by the device
  std::int64_t ended_ns = 0;
  double queue_wait_ms() const {
    return static_cast<double>(dispatched_ns.value_or(ended_ns) - queued_ns) / 1e6;
  }
};

/// The end of one job.
struct Outcome {
  Ending ending = Ending::kCompleted;
  /// Set unless kCompleted. kCancelled: kCancelled. kExpired: kOverloaded. kClosed:
  /// kBackendUnavailable. kFailed: what the device's function gave, or kInternal.
  std::optional<Error> error;
  /// With kOverloaded: when a new attempt may succeed, at least 1.
  std::optional<std::int64_t> retry_after_ms;
  JobTimes times;
  std::size_t batch_jobs = 0;  ///< jobs in its batch, itself included; 0 when it did not run
  std::unique_ptr<Payload> payload;
};

/// Called exactly once per admitted job, without any lock held: on the device's thread before it
/// takes its next batch, on the timer's thread (kExpired), or inside submit() (others' kExpired),
/// cancel() or close(). It may run before submit() has returned. It may call every function of
/// Scheduler but close(), is expected to be short since a device waits for it, and an exception out
/// of it is dropped and counted.
using DoneFunction = std::function<void(Outcome)>;

/// One job of a batch as the device's function sees it.
struct BatchJob {
  Payload* payload = nullptr;
  /// Set by the function when this job alone failed.
  std::optional<Error> error;
};

/// Runs one batch: jobs of one key, 1..DeviceOptions::batch_jobs_max of them, in the order they are
/// to be answered. An error (or an exception, as kInternal) fails all jobs of this batch and
/// nothing else. `stop` is requested when close() has waited as long as it was told to; a function
/// that can stop in the middle may then return an error. It must return: closing waits for it.
/// Called on the device's thread, one call at a time.
using RunFunction = std::function<Status(std::span<BatchJob> jobs, const std::stop_token& stop)>;

/// Bounds and habits of one device. All counts at least 1.
///
/// Which jobs form a batch: clients with queued work stand in a circle. The client in front leads
/// the batch with its oldest job, which always goes, and moves to the end of the circle. The rest
/// of the batch is filled with oldest jobs of any client that have the same key and fit, each time
/// from the client that has been given the least cost so far. An idle device waits for nothing: a
/// job that arrives then is a batch at once.
struct DeviceOptions {
  std::string name = "cpu";  ///< for messages and metrics; 1..64 bytes
  std::size_t queue_jobs_max = 1024;
  std::int64_t queue_cost_max = std::int64_t{1} << 20;
  /// The part of the queue that one client can have, so that a flood leaves room for others.
  std::size_t client_jobs_max = 512;
  /// Clients with queued work at one time.
  std::size_t clients_max = 256;
  /// Jobs join a batch while the sum of their costs stays within this; a larger job runs alone.
  std::int64_t batch_cost_max = 4096;
  std::size_t batch_jobs_max = 64;
  /// The learned time per unit of cost before anything was measured, finite and above 0. Better
  /// too low than too high: a low one is corrected by the first batches, a high one has jobs with
  /// a deadline refused that could have been done.
  double cost_ms_start = 0.05;
  /// Keys with a learned time of their own; beyond it the longest unused is forgotten.
  std::size_t keys_max = 64;
  /// Longest retry_after_ms given.
  std::int64_t retry_after_ms_max = 60'000;
};

/// Why a job was not admitted.
enum class RefusalReason : std::uint8_t {
  kInvalid,      ///< kInvalidRequest: a field of JobSpec out of its bounds, or an unknown device
  kQueueFull,    ///< kOverloaded: queue_jobs_max or queue_cost_max
  kClientFull,   ///< kOverloaded: client_jobs_max
  kClientsFull,  ///< kOverloaded: clients_max
  kDeadline,     ///< kOverloaded: it is not expected to complete by its deadline
  kClosed,       ///< kBackendUnavailable: close() or stop_admitting() was called
};
inline constexpr std::size_t kRefusalReasons = 6;

/// `invalid`, `queue_full`, `client_full`, `clients_full`, `deadline`, `closed`.
std::string_view refusal_reason_name(RefusalReason reason);

struct Refusal {
  RefusalReason reason = RefusalReason::kInvalid;
  Error error;
  /// With kOverloaded, from the estimated time until there is room: 1..retry_after_ms_max.
  std::optional<std::int64_t> retry_after_ms;
};

/// Either the admitted job's id or why there is none.
using Admission = std::variant<JobId, Refusal>;

/// What waits in front of a device: all that routing between devices needs.
struct QueueSnapshot {
  /// Estimates of queued jobs plus what is left of the running batch's; estimates are those made
  /// when the jobs were submitted, a batch running longer than estimated counts 0.
  double backlog_ms = 0;
  std::size_t queued_jobs = 0;  ///< without the running ones
  bool running = false;
};

/// Counts of durations: buckets[i] of those at most kBoundsMs[i] and above the bound before, the
/// last one of all longer ones.
struct WaitHistogram {
  static constexpr std::array<double, 16> kBoundsMs{0.1, 0.25, 0.5, 1,   2.5,  5,    10,   25,
                                                    50,  100,  250, 500, 1000, 2500, 5000, 10000};
  std::array<std::uint64_t, kBoundsMs.size() + 1> buckets{};
  std::uint64_t count = 0;
  double sum_ms = 0;
};

/// One moment of one device. At every moment
///   admitted == queued_jobs + running_jobs + the sum of ended,
///   queue_wait.count == batch_jobs == running_jobs + the jobs that ended after they had started,
/// and a call of submit() for this device adds one to admitted or to one of refused.
struct DeviceMetrics {
  std::string name;
  std::size_t queued_jobs = 0;
  std::int64_t queued_cost = 0;
  std::size_t clients = 0;       ///< with queued work
  std::size_t running_jobs = 0;  ///< in the running batch, those cancelled since included
  double backlog_ms = 0;
  std::uint64_t admitted = 0;
  std::array<std::uint64_t, kEndings> ended{};           ///< by Ending
  std::array<std::uint64_t, kRefusalReasons> refused{};  ///< by RefusalReason
  std::uint64_t batches = 0;                             ///< started
  std::uint64_t batch_jobs = 0;                          ///< started, in all batches together
  std::uint64_t batch_cost = 0;                          ///< started
  double running_ms = 0;                                 ///< time spent in finished batches
  WaitHistogram queue_wait;                              ///< of started jobs
  std::uint64_t done_exceptions = 0;                     ///< DoneFunctions that threw
};

struct SchedulerOptions {
  /// Not owned; outlives the scheduler.
  base::Clock* clock = nullptr;
  /// False: no threads are made; step() and tick() do their work on the calling thread. For tests
  /// that decide the order of everything; such a scheduler is used by one thread.
  bool threads = true;
  std::size_t devices_max = 16;
};

class Lane;

/// Thread-safety: any number of callers, also from DoneFunctions (but for close()).
class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  /// close(0); by the same rule not in a DoneFunction, nor while another call is on its way.
  ~Scheduler();

  /// Adds a device and starts its thread. At any time, also while others work.
  /// Errors: kInvalidRequest naming an option out of its bounds, a name already taken or
  /// devices_max; kBackendUnavailable after close().
  Result<DeviceId> add_device(const DeviceOptions& options, RunFunction run);

  /// Whether such a job would be admitted now, without admitting it: for a decision before a
  /// request's body is read. Counts nothing.
  std::optional<Refusal> check(DeviceId device, const JobSpec& spec) const;

  /// Admits a job or says why not; never waits. A refused payload is destroyed, its `done` is not
  /// called. A job with a deadline is refused when its estimated completion (what runs, the share
  /// of the queue that is served before it, itself) lies after it; an idle device takes it anyway,
  /// as long as the deadline is not past, so that a wrong estimate gets corrected.
  /// `payload` and `done` are not null.
  Admission submit(DeviceId device, const JobSpec& spec, std::unique_ptr<Payload> payload,
                   DoneFunction done);

  /// A queued job leaves the queue and ends as kCancelled before this returns; a running one is let
  /// finish, its result is dropped and it ends as kCancelled with its batch. False, without any
  /// effect, when the job has ended or was cancelled before.
  bool cancel(JobId job);

  /// What waits in front of `device`. An unknown device: nothing.
  QueueSnapshot queue(DeviceId device) const;

  /// How long `device` is expected to need for a job of this key and cost when it has nothing else
  /// to do: the exponentially weighted time per cost of this key's batches so far.
  double service_estimate_ms(DeviceId device, BatchKey key, std::int64_t cost) const;

  /// All devices in the order of their ids; each is consistent in itself.
  std::vector<DeviceMetrics> metrics() const;

  /// Refuses every further job; what was admitted goes on. Does not wait.
  void stop_admitting();

  /// stop_admitting(), then lets all devices finish what is queued for up to `drain_ms` on the
  /// machine's own clock, then ends what is still queued as kClosed, requests the running
  /// functions' stop and waits for them to return. All jobs have ended when it returns. True when
  /// none ended as kClosed through this call. A second call waits for the first and returns true.
  /// Without threads it drains nothing. Not to be called from a DoneFunction or a RunFunction.
  bool close(std::int64_t drain_ms);

  /// Without threads: takes and runs the next batch of `device`; false when nothing is queued.
  bool step(DeviceId device);

  /// Ends queued jobs whose deadline has passed. With threads a timer does so by itself.
  void tick();

 private:
  struct State;
  Lane* lane(DeviceId device) const;
  std::unique_ptr<State> state_;
};

}  // namespace layard::scheduler
