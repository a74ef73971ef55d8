#include "scheduler/device_queue.h"

#include <algorithm>
#include <cmath>

#include "base/checks.h"

namespace layard::scheduler {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kCountMax = 1'000'000;
constexpr std::int64_t kCostMax = std::int64_t{1} << 40;
constexpr std::int64_t kRetryAfterMsMax = 86'400'000;

Status check_range(std::string_view field, std::int64_t value, std::int64_t max) {
  if (value >= 1 && value <= max) return {};
  return Error{ErrorCode::kInvalidRequest, "device option " + std::string(field) + " is " +
                                               std::to_string(value) + "; give 1 to " +
                                               std::to_string(max)};
}

Status check_count(std::string_view field, std::size_t value) {
  constexpr auto kTooMany = static_cast<std::int64_t>(kCountMax) + 1;
  const auto count = value > kCountMax ? kTooMany : static_cast<std::int64_t>(value);
  return check_range(field, count, static_cast<std::int64_t>(kCountMax));
}

void add_wait(WaitHistogram& histogram, double wait_ms) {
  const auto& bounds = WaitHistogram::kBoundsMs;
  const auto bound = std::lower_bound(bounds.begin(), bounds.end(), wait_ms);
  ++histogram.buckets[static_cast<std::size_t>(bound - bounds.begin())];
  ++histogram.count;
  histogram.sum_ms += wait_ms;
}

std::string whole_ms(std::int64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

}  // namespace

Status check_device_options(const DeviceOptions& options) {
  if (options.name.empty() || options.name.size() > kNameBytesMax) {
    return Error{
        ErrorCode::kInvalidRequest,
        "device option name has " + std::to_string(options.name.size()) + " bytes; give 1 to 64"};
  }
  LAYARD_TRY(check_count("queue_jobs_max", options.queue_jobs_max));
  LAYARD_TRY(check_range("queue_cost_max", options.queue_cost_max, kCostMax));
  LAYARD_TRY(check_count("client_jobs_max", options.client_jobs_max));
  LAYARD_TRY(check_count("clients_max", options.clients_max));
  LAYARD_TRY(check_range("batch_cost_max", options.batch_cost_max, kCostMax));
  LAYARD_TRY(check_count("batch_jobs_max", options.batch_jobs_max));
  LAYARD_TRY(check_count("keys_max", options.keys_max));
  LAYARD_TRY(check_range("retry_after_ms_max", options.retry_after_ms_max, kRetryAfterMsMax));
  if (!std::isfinite(options.cost_ms_start) || options.cost_ms_start <= 0) {
    return Error{ErrorCode::kInvalidRequest,
                 "device option cost_ms_start is not a finite number above 0"};
  }
  return {};
}

DeviceQueue::DeviceQueue(const DeviceOptions& options)
    : options_(options), service_(options.cost_ms_start, options.keys_max) {
  LAYARD_CHECK(check_device_options(options).ok());
}

std::int64_t DeviceQueue::job_ns(const JobSpec& spec) const {
  if (spec.service_estimate_ms.has_value()) return bounded_job_ns(*spec.service_estimate_ms);
  return service_.job_ns(spec.key, spec.cost);
}

std::int64_t DeviceQueue::running_left_ns(std::int64_t now_ns) const {
  if (running_.empty()) return 0;
  return std::max<std::int64_t>(0, running_estimate_ns_ - (now_ns - running_since_ns_));
}

std::int64_t DeviceQueue::retry_after_ms(double wait_ns) const {
  const auto max = static_cast<double>(options_.retry_after_ms_max);
  return static_cast<std::int64_t>(std::clamp(std::ceil(wait_ns / 1e6), 1.0, max));
}

Refusal DeviceQueue::overloaded(RefusalReason reason, const std::string& found,
                                double wait_ns) const {
  const std::int64_t wait_ms = retry_after_ms(wait_ns);
  return {reason,
          {ErrorCode::kOverloaded,
           options_.name + ": " + found + "; try again in " + std::to_string(wait_ms) + " ms"},
          wait_ms};
}

std::optional<Refusal> DeviceQueue::check(const JobSpec& spec, std::int64_t now_ns) const {
  if (auto refusal = check_spec(spec)) return refusal;
  if (!admitting_) {
    return Refusal{RefusalReason::kClosed,
                   {ErrorCode::kBackendUnavailable,
                    options_.name + ": closing, takes no further work; start again to go on"},
                   std::nullopt};
  }
  if (auto refusal = check_room(spec, now_ns)) return refusal;
  return check_deadline(spec, now_ns);
}

std::optional<Refusal> DeviceQueue::check_spec(const JobSpec& spec) const {
  const auto invalid = [&](const std::string& text) {
    return Refusal{RefusalReason::kInvalid,
                   {ErrorCode::kInvalidRequest, options_.name + ": " + text},
                   std::nullopt};
  };
  if (spec.cost < 1 || spec.cost > options_.queue_cost_max) {
    return invalid("a job's cost is " + std::to_string(spec.cost) + "; at most " +
                   std::to_string(options_.queue_cost_max) +
                   " fits the queue (queue_cost_max), at least 1 is needed");
  }
  const double estimate_ms = spec.service_estimate_ms.value_or(0);
  if (!std::isfinite(estimate_ms) || estimate_ms < 0) {
    return invalid("a job's service_estimate_ms is not a finite number of at least 0");
  }
  return std::nullopt;
}

std::optional<Refusal> DeviceQueue::check_room(const JobSpec& spec, std::int64_t now_ns) const {
  const auto running_ns = static_cast<double>(running_left_ns(now_ns));
  const auto queued_ns = static_cast<double>(circle_.estimate_ns());
  const std::size_t jobs = circle_.jobs();
  if (jobs >= options_.queue_jobs_max) {
    return overloaded(RefusalReason::kQueueFull,
                      std::to_string(jobs) + " jobs wait (queue_jobs_max)",
                      running_ns + queued_ns / static_cast<double>(jobs));
  }
  const std::int64_t excess = circle_.cost() + spec.cost - options_.queue_cost_max;
  if (excess > 0) {
    const double share = static_cast<double>(excess) / static_cast<double>(circle_.cost());
    return overloaded(RefusalReason::kQueueFull,
                      "work of cost " + std::to_string(circle_.cost()) + " waits (queue_cost_max " +
                          std::to_string(options_.queue_cost_max) + ")",
                      running_ns + queued_ns * share);
  }
  const std::size_t own = circle_.client_jobs(spec.client);
  if (own >= options_.client_jobs_max) {
    return overloaded(RefusalReason::kClientFull,
                      std::to_string(own) + " jobs of this client wait (client_jobs_max)",
                      running_ns + queued_ns / static_cast<double>(own));
  }
  if (own == 0 && circle_.clients() >= options_.clients_max) {
    return overloaded(RefusalReason::kClientsFull,
                      std::to_string(circle_.clients()) + " clients wait (clients_max)",
                      running_ns + queued_ns / static_cast<double>(circle_.clients()));
  }
  return std::nullopt;
}

std::optional<Refusal> DeviceQueue::check_deadline(const JobSpec& spec, std::int64_t now_ns) const {
  if (!spec.deadline_ns.has_value()) return std::nullopt;
  const std::int64_t deadline_ns = *spec.deadline_ns;
  const bool idle = running_.empty() && circle_.jobs() == 0;
  // A device that refuses while it is idle learns nothing, and would refuse for ever.
  if (idle && deadline_ns > now_ns) return std::nullopt;
  const std::int64_t own_ns = job_ns(spec);
  const std::int64_t wait_ns =
      running_left_ns(now_ns) + circle_.ahead_ns(spec.client, own_ns) + own_ns;
  if (deadline_ns > now_ns && wait_ns <= deadline_ns - now_ns) return std::nullopt;
  if (deadline_ns <= now_ns) {
    return overloaded(RefusalReason::kDeadline, "the deadline has passed already",
                      static_cast<double>(wait_ns - own_ns));
  }
  return overloaded(RefusalReason::kDeadline,
                    "an answer is expected in " + whole_ms(wait_ns) + ", the deadline is in " +
                        whole_ms(deadline_ns - now_ns),
                    static_cast<double>(wait_ns - (deadline_ns - now_ns)));
}

std::variant<std::uint64_t, Refusal> DeviceQueue::submit(const JobSpec& spec, std::int64_t now_ns,
                                                         EndedJobs& ended) {
  tick(now_ns, ended);
  if (auto refusal = check(spec, now_ns)) {
    ++counts_.refused[static_cast<std::size_t>(refusal->reason)];
    return *std::move(refusal);
  }
  const QueuedJob job{++last_number_, spec, now_ns, job_ns(spec)};
  circle_.push(job);
  if (spec.deadline_ns.has_value()) deadlines_.emplace(*spec.deadline_ns, job.number);
  ++counts_.admitted;
  LAYARD_CHECK(circle_.jobs() <= options_.queue_jobs_max);
  LAYARD_CHECK(circle_.cost() <= options_.queue_cost_max);
  return job.number;
}

std::vector<std::uint64_t> DeviceQueue::next_batch(std::int64_t now_ns, EndedJobs& ended) {
  LAYARD_CHECK(running_.empty());
  tick(now_ns, ended);
  const auto leader = circle_.take_leader();
  if (!leader.has_value()) return {};
  running_cost_ = 0;
  running_estimate_ns_ = 0;
  running_since_ns_ = now_ns;
  start(*leader, now_ns);
  while (running_.size() < options_.batch_jobs_max) {
    const auto filler =
        circle_.take_filler(leader->spec.key, options_.batch_cost_max - running_cost_);
    if (!filler.has_value()) break;
    start(*filler, now_ns);
  }
  ++counts_.batches;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(running_.size());
  for (const RunningJob& running : running_) numbers.push_back(running.job.number);
  return numbers;
}

void DeviceQueue::start(const QueuedJob& job, std::int64_t now_ns) {
  if (job.spec.deadline_ns.has_value()) deadlines_.erase({*job.spec.deadline_ns, job.number});
  running_.push_back({job, false});
  running_cost_ += job.spec.cost;
  running_estimate_ns_ += job.estimate_ns;
  ++counts_.batch_jobs;
  counts_.batch_cost += static_cast<std::uint64_t>(job.spec.cost);
  add_wait(counts_.queue_wait, static_cast<double>(now_ns - job.queued_ns) / 1e6);
}

void DeviceQueue::finish(std::span<const std::optional<Error>> errors, std::int64_t now_ns,
                         EndedJobs& ended) {
  LAYARD_CHECK(!running_.empty());
  LAYARD_CHECK(errors.size() == running_.size());
  const std::int64_t duration_ns = now_ns - running_since_ns_;
  if (std::none_of(errors.begin(), errors.end(), [](const auto& e) { return e.has_value(); })) {
    service_.learn(running_.front().job.spec.key, running_cost_, duration_ns);
  }
  counts_.running_ms += static_cast<double>(duration_ns) / 1e6;
  const std::vector<RunningJob> batch = std::exchange(running_, {});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Ended end_of_job{batch[i].job.number, Ending::kCompleted, errors[i], std::nullopt, {}, 0};
    end_of_job.times = {batch[i].job.queued_ns, running_since_ns_, now_ns};
    end_of_job.batch_jobs = batch.size();
    if (batch[i].cancelled) {
      end_of_job.ending = Ending::kCancelled;
      end_of_job.error = Error{ErrorCode::kCancelled, options_.name + ": cancelled while it ran"};
    } else if (errors[i].has_value()) {
      end_of_job.ending = Ending::kFailed;
    }
    end(std::move(end_of_job), ended);
  }
}

bool DeviceQueue::cancel(std::uint64_t number, std::int64_t now_ns, EndedJobs& ended) {
  if (const auto job = circle_.remove(number)) {
    leave_queue(*job,
                {number,
                 Ending::kCancelled,
                 Error{ErrorCode::kCancelled, options_.name + ": cancelled before it ran"},
                 std::nullopt,
                 {job->queued_ns, std::nullopt, now_ns},
                 0},
                ended);
    return true;
  }
  for (RunningJob& running : running_) {
    if (running.job.number == number) return !std::exchange(running.cancelled, true);
  }
  return false;
}

void DeviceQueue::tick(std::int64_t now_ns, EndedJobs& ended) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_ns) {
    const auto job = circle_.remove(deadlines_.begin()->second);
    LAYARD_CHECK(job.has_value());
    const std::int64_t wait_ms =
        retry_after_ms(static_cast<double>(running_left_ns(now_ns) + circle_.estimate_ns()));
    leave_queue(
        *job,
        {job->number,
         Ending::kExpired,
         Error{ErrorCode::kOverloaded,
               options_.name + ": the deadline passed after " + whole_ms(now_ns - job->queued_ns) +
                   " in the queue; try again in " + std::to_string(wait_ms) + " ms"},
         wait_ms,
         {job->queued_ns, std::nullopt, now_ns},
         0},
        ended);
  }
}

void DeviceQueue::close_queued(std::int64_t now_ns, EndedJobs& ended) {
  LAYARD_CHECK(!admitting_);
  while (const auto job = circle_.take_leader()) {
    leave_queue(
        *job,
        {job->number,
         Ending::kClosed,
         Error{ErrorCode::kBackendUnavailable, options_.name + ": closed before this request ran"},
         std::nullopt,
         {job->queued_ns, std::nullopt, now_ns},
         0},
        ended);
  }
}

void DeviceQueue::leave_queue(const QueuedJob& job, Ended ended, EndedJobs& out) {
  if (job.spec.deadline_ns.has_value()) deadlines_.erase({*job.spec.deadline_ns, job.number});
  end(std::move(ended), out);
}

void DeviceQueue::end(Ended ended, EndedJobs& out) {
  ++counts_.ended[static_cast<std::size_t>(ended.ending)];
  out.push_back(std::move(ended));
}

std::optional<std::int64_t> DeviceQueue::next_deadline_ns() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

QueueSnapshot DeviceQueue::snapshot(std::int64_t now_ns) const {
  const std::int64_t backlog_ns = circle_.estimate_ns() + running_left_ns(now_ns);
  return {static_cast<double>(backlog_ns) / 1e6, circle_.jobs(), !running_.empty()};
}

DeviceMetrics DeviceQueue::metrics(std::int64_t now_ns) const {
  DeviceMetrics metrics = counts_;
  metrics.name = options_.name;
  metrics.queued_jobs = circle_.jobs();
  metrics.queued_cost = circle_.cost();
  metrics.clients = circle_.clients();
  metrics.running_jobs = running_.size();
  metrics.backlog_ms = snapshot(now_ns).backlog_ms;
  return metrics;
}

}  // namespace layard::scheduler
