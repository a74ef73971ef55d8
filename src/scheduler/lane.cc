#include "scheduler/lane.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/checks.h"

namespace layard::scheduler {
namespace {

// Waits are cut to this, so that no arithmetic on time points can overflow.
constexpr std::int64_t kWaitNsMax = 3'600'000'000'000;

constexpr std::size_t kExceptionTextBytesMax = 200;

}  // namespace

Lane::Lane(DeviceId id, const DeviceOptions& options, RunFunction run, const base::Clock& clock)
    : id_(id), name_(options.name), run_(std::move(run)), clock_(clock), queue_(options) {}

void Lane::start_threads() {
  worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  timer_ = std::jthread([this](const std::stop_token& stop) { watch_deadlines(stop); });
}

std::optional<Refusal> Lane::check(const JobSpec& spec) const {
  const std::lock_guard lock(mutex_);
  return queue_.check(spec, clock_.now_ns());
}

Admission Lane::submit(const JobSpec& spec, std::unique_ptr<Payload> payload, DoneFunction done) {
  EndedJobs ended;
  std::vector<Delivery> deliveries;
  Admission admission;
  bool earliest_changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto before_ns = queue_.next_deadline_ns();
    auto submitted = queue_.submit(spec, clock_.now_ns(), ended);
    if (const auto* number = std::get_if<std::uint64_t>(&submitted)) {
      held_.emplace(*number, Held{std::move(payload), std::move(done)});
      admission = JobId{id_, *number};
    } else {
      admission = std::get<Refusal>(std::move(submitted));
    }
    earliest_changed = queue_.next_deadline_ns() != before_ns;
    deliveries = collect(std::move(ended));
  }
  if (std::holds_alternative<JobId>(admission)) queued_.notify_one();
  if (earliest_changed) deadline_changed_.notify_one();
  deliver(std::move(deliveries));
  return admission;
}

bool Lane::cancel(std::uint64_t number) {
  EndedJobs ended;
  std::vector<Delivery> deliveries;
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = queue_.cancel(number, clock_.now_ns(), ended);
    deliveries = collect(std::move(ended));
  }
  deliver(std::move(deliveries));
  return cancelled;
}

void Lane::tick() {
  EndedJobs ended;
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    queue_.tick(clock_.now_ns(), ended);
    deliveries = collect(std::move(ended));
  }
  deliver(std::move(deliveries));
}

bool Lane::step(const std::stop_token& stop) {
  EndedJobs ended;
  std::vector<Delivery> deliveries;
  std::vector<BatchJob> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t number : queue_.next_batch(clock_.now_ns(), ended)) {
      // The payload stays where it is until finish(): nothing else touches a running job's.
      jobs.push_back({held_.at(number).payload.get(), std::nullopt});
    }
    deliveries = collect(std::move(ended));
  }
  deliver(std::move(deliveries));
  if (jobs.empty()) return false;

  const Status status = call(jobs, stop);
  std::vector<std::optional<Error>> errors;
  errors.reserve(jobs.size());
  for (BatchJob& job : jobs) {
    errors.push_back(status.ok() ? std::move(job.error) : std::optional(status.error()));
  }
  EndedJobs batch;
  {
    const std::lock_guard lock(mutex_);
    queue_.finish(errors, clock_.now_ns(), batch);
    deliveries = collect(std::move(batch));
  }
  deliver(std::move(deliveries));
  return true;
}

Status Lane::call(std::span<BatchJob> jobs, const std::stop_token& stop) const {
  try {
    return run_(jobs, stop);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return Error{ErrorCode::kInternal, name_ + ": the batch ended with an exception: " +
                                           what.substr(0, kExceptionTextBytesMax)};
  } catch (...) {
    return Error{ErrorCode::kInternal, name_ + ": the batch ended with an unknown exception"};
  }
}

std::vector<Lane::Delivery> Lane::collect(EndedJobs ended) {
  std::vector<Delivery> deliveries;
  if (ended.empty()) return deliveries;
  deliveries.reserve(ended.size());
  for (Ended& job : ended) {
    auto held = held_.extract(job.number);
    LAYARD_CHECK(!held.empty());
    deliveries.push_back({{job.ending, std::move(job.error), job.retry_after_ms, job.times,
                           job.batch_jobs, std::move(held.mapped().payload)},
                          std::move(held.mapped().done)});
  }
  ++delivering_;
  return deliveries;
}

void Lane::deliver(std::vector<Delivery> deliveries) {
  if (deliveries.empty()) return;
  std::uint64_t exceptions = 0;
  for (Delivery& delivery : deliveries) {
    try {
      delivery.done(std::move(delivery.outcome));
    } catch (...) {
      ++exceptions;
    }
  }
  // What they captured may be the last owner of something that calls back.
  deliveries.clear();
  const std::lock_guard lock(mutex_);
  done_exceptions_ += exceptions;
  --delivering_;
  if (is_idle()) idle_.notify_all();
}

bool Lane::is_idle() const {
  return !queue_.has_queued() && !queue_.is_running() && delivering_ == 0;
}

void Lane::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      queued_.wait(lock, stop, [this] { return queue_.has_queued(); });
      if (!queue_.has_queued()) return;  // stopped
    }
    step(stop);
  }
}

void Lane::watch_deadlines(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto deadline_ns = queue_.next_deadline_ns();
    const auto changed = [&] { return queue_.next_deadline_ns() != deadline_ns; };
    if (!deadline_ns.has_value()) {
      deadline_changed_.wait(lock, stop, changed);
      continue;
    }
    const std::int64_t wait_ns = *deadline_ns - clock_.now_ns();
    if (wait_ns > 0) {
      const auto wait = std::chrono::nanoseconds(std::min(wait_ns, kWaitNsMax));
      deadline_changed_.wait_for(lock, stop, wait, changed);
      continue;
    }
    lock.unlock();
    tick();
    lock.lock();
  }
}

QueueSnapshot Lane::queue() const {
  const std::lock_guard lock(mutex_);
  return queue_.snapshot(clock_.now_ns());
}

double Lane::service_estimate_ms(BatchKey key, std::int64_t cost) const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(queue_.service().job_ns(key, cost)) / 1e6;
}

DeviceMetrics Lane::metrics() const {
  const std::lock_guard lock(mutex_);
  DeviceMetrics metrics = queue_.metrics(clock_.now_ns());
  metrics.done_exceptions = done_exceptions_;
  return metrics;
}

void Lane::stop_admitting() {
  const std::lock_guard lock(mutex_);
  queue_.stop_admitting();
}

void Lane::wait_until_idle(std::int64_t wait_ms) {
  const std::int64_t bounded_ms = std::clamp<std::int64_t>(wait_ms, 0, kWaitNsMax / 1'000'000);
  std::unique_lock lock(mutex_);
  idle_.wait_for(lock, std::chrono::milliseconds(bounded_ms), [this] { return is_idle(); });
}

std::size_t Lane::begin_close() {
  EndedJobs ended;
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    queue_.stop_admitting();
    queue_.close_queued(clock_.now_ns(), ended);
    deliveries = collect(std::move(ended));
  }
  worker_.request_stop();
  timer_.request_stop();
  const std::size_t closed = deliveries.size();
  deliver(std::move(deliveries));
  return closed;
}

void Lane::join() {
  if (worker_.joinable()) worker_.join();
  if (timer_.joinable()) timer_.join();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return is_idle(); });
}

}  // namespace layard::scheduler
