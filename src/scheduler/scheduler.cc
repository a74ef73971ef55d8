#include "scheduler/scheduler.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "base/checks.h"
#include "scheduler/lane.h"

namespace layard::scheduler {

struct Scheduler::State {
  SchedulerOptions options;
  mutable std::shared_mutex lanes_mutex;  // guards the list and `closing`; a lane never leaves it
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::string> names;
  bool closing = false;
  std::mutex close_mutex;  // one close() at a time
  bool closed = false;     // guarded by close_mutex

  std::vector<Lane*> all() const {
    const std::shared_lock lock(lanes_mutex);
    std::vector<Lane*> found;
    found.reserve(lanes.size());
    for (const auto& lane : lanes) found.push_back(lane.get());
    return found;
  }
};

namespace {

Refusal unknown_device(DeviceId device) {
  return {RefusalReason::kInvalid,
          {ErrorCode::kInvalidRequest,
           "there is no device " + std::to_string(device) + "; use one add_device() returned"},
          std::nullopt};
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options) : state_(std::make_unique<State>()) {
  LAYARD_CHECK(options.clock != nullptr);
  LAYARD_CHECK(options.devices_max >= 1);
  state_->options = options;
}

Scheduler::~Scheduler() { close(0); }

Result<DeviceId> Scheduler::add_device(const DeviceOptions& options, RunFunction run) {
  LAYARD_CHECK(run != nullptr);
  LAYARD_TRY(check_device_options(options));
  const std::unique_lock lock(state_->lanes_mutex);
  if (state_->closing) {
    return Error{ErrorCode::kBackendUnavailable,
                 options.name + ": the scheduler is closing, takes no further device"};
  }
  if (std::find(state_->names.begin(), state_->names.end(), options.name) != state_->names.end()) {
    return Error{ErrorCode::kInvalidRequest,
                 "there is a device '" + options.name + "' already; give another name"};
  }
  if (state_->lanes.size() >= state_->options.devices_max) {
    return Error{ErrorCode::kInvalidRequest, options.name + ": there are " +
                                                 std::to_string(state_->lanes.size()) +
                                                 " devices already (devices_max)"};
  }
  const DeviceId id = state_->lanes.size();
  auto lane = std::make_unique<Lane>(id, options, std::move(run), *state_->options.clock);
  if (state_->options.threads) lane->start_threads();
  state_->names.push_back(options.name);
  state_->lanes.push_back(std::move(lane));
  return id;
}

Lane* Scheduler::lane(DeviceId device) const {
  const std::shared_lock lock(state_->lanes_mutex);
  return device < state_->lanes.size() ? state_->lanes[device].get() : nullptr;
}

std::optional<Refusal> Scheduler::check(DeviceId device, const JobSpec& spec) const {
  const Lane* found = lane(device);
  return found == nullptr ? unknown_device(device) : found->check(spec);
}

Admission Scheduler::submit(DeviceId device, const JobSpec& spec, std::unique_ptr<Payload> payload,
                            DoneFunction done) {
  LAYARD_CHECK(payload != nullptr);
  LAYARD_CHECK(done != nullptr);
  Lane* found = lane(device);
  if (found == nullptr) return unknown_device(device);
  return found->submit(spec, std::move(payload), std::move(done));
}

bool Scheduler::cancel(JobId job) {
  Lane* found = lane(job.device);
  return found != nullptr && found->cancel(job.number);
}

QueueSnapshot Scheduler::queue(DeviceId device) const {
  const Lane* found = lane(device);
  return found == nullptr ? QueueSnapshot{} : found->queue();
}

double Scheduler::service_estimate_ms(DeviceId device, BatchKey key, std::int64_t cost) const {
  const Lane* found = lane(device);
  return found == nullptr ? 0 : found->service_estimate_ms(key, cost);
}

std::vector<DeviceMetrics> Scheduler::metrics() const {
  std::vector<DeviceMetrics> metrics;
  for (const Lane* found : state_->all()) metrics.push_back(found->metrics());
  return metrics;
}

void Scheduler::stop_admitting() {
  {
    const std::unique_lock lock(state_->lanes_mutex);
    state_->closing = true;
  }
  for (Lane* found : state_->all()) found->stop_admitting();
}

bool Scheduler::close(std::int64_t drain_ms) {
  const std::lock_guard closing(state_->close_mutex);
  if (std::exchange(state_->closed, true)) return true;
  stop_admitting();
  const std::vector<Lane*> lanes = state_->all();
  if (state_->options.threads) {
    // The lanes empty side by side; what one used up of the time is gone for the next.
    const double end_ms = base::real_clock().now_ms() + static_cast<double>(drain_ms);
    for (Lane* found : lanes) {
      const double left_ms = end_ms - base::real_clock().now_ms();
      found->wait_until_idle(left_ms > 0 ? static_cast<std::int64_t>(left_ms) : 0);
    }
  }
  std::size_t unfinished = 0;
  for (Lane* found : lanes) unfinished += found->begin_close();
  for (Lane* found : lanes) found->join();
  return unfinished == 0;
}

bool Scheduler::step(DeviceId device) {
  LAYARD_CHECK(!state_->options.threads);
  Lane* found = lane(device);
  return found != nullptr && found->step(std::stop_token());
}

void Scheduler::tick() {
  for (Lane* found : state_->all()) found->tick();
}

}  // namespace layard::scheduler
