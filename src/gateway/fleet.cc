#include "gateway/fleet.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "base/checks.h"
#include "gateway/fleet_device.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kRetryMsMin = 1000;
constexpr std::int64_t kRetryMsMax = 60'000;
constexpr double kTotalMsMax = 1e9;

// What an outcome tells of the device, if anything.
std::optional<DeviceSign> sign_of(const RequestOutcome& outcome) {
  if (outcome.end == RequestEnd::kClientGone) return std::nullopt;
  // 501 is an answer about a route, not about the server's health.
  if (outcome.status >= 500 && outcome.status != 501) return DeviceSign::kServerError;
  if (outcome.end == RequestEnd::kFailedBeforeFirstByte && outcome.status == 0) {
    return outcome.fault;
  }
  const bool is_reply = outcome.end == RequestEnd::kOk && outcome.status > 0;
  return is_reply && outcome.status != 429 ? std::optional(DeviceSign::kServed) : std::nullopt;
}

bool asks_to_wait(const RequestOutcome& outcome) {
  return outcome.retry_after_ms.has_value() && (outcome.status == 429 || outcome.status == 503) &&
         outcome.end != RequestEnd::kClientGone;
}

}  // namespace

class FleetState : public std::enable_shared_from_this<FleetState> {
 public:
  FleetState(const RoutePolicy& policy, const FleetOptions& options)
      : options_(options), classes_(policy.classes()) {
    for (const PolicyDevice& device : policy.servers) {
      if (device.name == policy.default_device) default_ = devices_.size();
      devices_.emplace_back(device, classes_.size() + 1);
    }
  }

  FleetChoice choose(std::span<const std::size_t> order, FleetRequest& request,
                     std::int64_t now_ns) {
    FleetChoice choice;
    {
      const std::scoped_lock lock(mutex_);
      at(now_ns);
      choose_locked(order, request, now_ns, choice);
    }
    run_calls();
    return choice;
  }
  FleetChanges first_byte(Reservation& place, int status, std::int64_t now_ns);
  FleetChanges release(Reservation& place, const RequestOutcome& outcome,
                       std::optional<std::int64_t> now_ns);
  bool cancel(std::size_t index, std::uint64_t id);
  void progress(std::size_t index, std::int64_t now_ns) {
    devices_[index].progress_ns.store(now_ns, std::memory_order_relaxed);
  }
  std::vector<std::size_t> take_due_probes(std::int64_t now_ns);
  FleetChanges probed(std::size_t index, bool passed, std::int64_t now_ns);
  FleetChanges tick(std::int64_t now_ns);
  void close();
  std::vector<DeviceView> view(std::int64_t now_ns) const;

  // Changes one device's health by `act`.
  template <class Act>
  FleetChanges change(std::size_t index, std::int64_t now_ns, Act act) {
    LAYARD_CHECK(index < devices_.size());
    FleetChanges changes;
    {
      const std::scoped_lock lock(mutex_);
      note(index, act(devices_[index].health), at(now_ns), changes);
    }
    run_calls();
    return changes;
  }

 private:
  struct Call {
    QueueCallback call;
    QueueTurn turn;
  };

  // All below: the caller holds mutex_, but for run_calls.
  std::int64_t at(std::int64_t now_ns) {
    last_ns_ = std::max(last_ns_, now_ns);
    return now_ns;
  }
  void choose_locked(std::span<const std::size_t> order, FleetRequest& request, std::int64_t now_ns,
                     FleetChoice& choice);
  void note(std::size_t index, const DeviceHealth::Change& change, std::int64_t now_ns,
            FleetChanges& changes);
  void grant(std::size_t index, std::int64_t now_ns);
  Reservation reserve(std::size_t index, std::size_t class_index, std::int64_t predicted_us);
  FleetWaiting remove(std::size_t index, std::uint64_t id);
  void end_wait(std::size_t index, std::uint64_t id, QueueTurn::Kind kind);
  void drop_waiting(std::size_t index, QueueTurn::Kind kind);
  void enqueue(std::size_t index, FleetRequest& request, std::size_t class_index,
               std::int64_t now_ns, FleetChoice& choice);
  std::size_t class_of(std::string_view name) const;
  std::optional<std::size_t> find_bypass(std::span<const std::size_t> order) const;
  std::int64_t retry_after_ms(std::span<const std::size_t> order, std::int64_t now_ns) const;
  void run_calls();

  const FleetOptions options_;
  const std::vector<std::string> classes_;
  std::optional<std::size_t> default_;
  mutable std::mutex mutex_;
  std::deque<FleetDevice> devices_;
  std::set<std::tuple<std::int64_t, std::uint64_t, std::size_t>> deadlines_;  // of all waiting
  std::deque<Call> calls_;
  bool is_calling_ = false;
  bool is_closed_ = false;
  std::uint64_t last_id_ = 0;
  std::int64_t last_ns_ = 0;
};

std::size_t FleetState::class_of(std::string_view name) const {
  const auto found = std::ranges::find(classes_, name);
  return static_cast<std::size_t>(found - classes_.begin());  // past the last one: of no class
}

// One thread at a time delivers, in order: a callback that gives a place back at once would
// otherwise call the next from within itself, as deep as the queue is long.
void FleetState::run_calls() {
  std::unique_lock lock(mutex_);
  if (is_calling_) return;
  is_calling_ = true;
  while (!calls_.empty()) {
    Call one = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    one.call(std::move(one.turn));
    one = {};
    lock.lock();
  }
  is_calling_ = false;
}

void FleetState::note(std::size_t index, const DeviceHealth::Change& change, std::int64_t now_ns,
                      FleetChanges& changes) {
  if (!change.has_value()) return;
  changes.push_back({index, *change});
  if (change->to == DeviceState::kHealthy) {
    grant(index, now_ns);
  } else {
    drop_waiting(index, QueueTurn::Kind::kDeviceLost);
  }
}

Reservation FleetState::reserve(std::size_t index, std::size_t class_index,
                                std::int64_t predicted_us) {
  FleetDevice& device = devices_[index];
  ++device.in_flight;
  Reservation place;
  place.state_ = shared_from_this();
  place.device_ = index;
  place.class_index_ = class_index;
  place.predicted_us_ = predicted_us;
  place.trial_ = device.health.begin_request();
  return place;
}

FleetWaiting FleetState::remove(std::size_t index, std::uint64_t id) {
  auto node = devices_[index].waiting.extract(id);
  deadlines_.erase({node.mapped().deadline_ns, id, index});
  return std::move(node.mapped());
}

void FleetState::end_wait(std::size_t index, std::uint64_t id, QueueTurn::Kind kind) {
  FleetWaiting one = remove(index, id);
  devices_[index].backlog_us -= one.predicted_us;
  calls_.push_back({std::move(one.call), {kind, {}}});
}

void FleetState::drop_waiting(std::size_t index, QueueTurn::Kind kind) {
  auto& waiting = devices_[index].waiting;
  while (!waiting.empty()) end_wait(index, waiting.begin()->first, kind);
}

void FleetState::grant(std::size_t index, std::int64_t now_ns) {
  FleetDevice& device = devices_[index];
  while (!device.waiting.empty()) {
    const std::uint64_t id = device.waiting.begin()->first;
    if (device.waiting.begin()->second.deadline_ns <= now_ns) {
      end_wait(index, id, QueueTurn::Kind::kExpired);
      continue;
    }
    if (!device.has_room() || !device.health.takes_requests(now_ns)) return;
    FleetWaiting one = remove(index, id);
    calls_.push_back(
        {std::move(one.call),
         {QueueTurn::Kind::kGranted, reserve(index, one.class_index, one.predicted_us)}});
  }
}

void FleetState::enqueue(std::size_t index, FleetRequest& request, std::size_t class_index,
                         std::int64_t now_ns, FleetChoice& choice) {
  FleetDevice& device = devices_[index];
  const std::int64_t latest_ns = now_ns + options_.wait_ms_max * kMsNs;
  FleetWaiting one;
  one.class_index = class_index;
  one.predicted_us = device.times.predict_us(class_index);
  one.deadline_ns = request.deadline_ns > 0 ? std::min(request.deadline_ns, latest_ns) : latest_ns;
  one.call = std::move(request.on_turn);
  device.backlog_us += one.predicted_us;
  choice.kind = FleetChoice::Kind::kQueued;
  choice.device = index;
  choice.ticket.state_ = shared_from_this();
  choice.ticket.device_ = index;
  choice.ticket.id_ = ++last_id_;
  deadlines_.emplace(one.deadline_ns, last_id_, index);
  device.waiting.emplace(last_id_, std::move(one));
}

std::optional<std::size_t> FleetState::find_bypass(std::span<const std::size_t> order) const {
  if (!options_.fail_open) return std::nullopt;
  const auto is_tried = [&](std::size_t index) {
    const DeviceState state = devices_[index].health.state();
    const bool is_out = state == DeviceState::kEjected || state == DeviceState::kHalfOpen;
    return is_out && devices_[index].has_room();
  };
  const bool has_default = default_.has_value() && is_tried(*default_) &&
                           std::ranges::find(order, *default_) != order.end();
  if (has_default) return default_;
  const auto first = std::ranges::find_if(order, is_tried);
  return first == order.end() ? std::nullopt : std::optional(*first);
}

std::int64_t FleetState::retry_after_ms(std::span<const std::size_t> order,
                                        std::int64_t now_ns) const {
  std::int64_t least_ms = kRetryMsMax;
  for (const std::size_t index : order) {
    const FleetDevice& device = devices_[index];
    std::int64_t wait_ms = (device.health.retry_at_ns(now_ns) - now_ns + kMsNs - 1) / kMsNs;
    // A place is free again after about this long, if all that waits is to run before.
    if (device.requests_max > 0) {
      wait_ms = std::max(wait_ms, device.backlog_us / 1000 / device.requests_max);
    }
    least_ms = std::min(least_ms, wait_ms);
  }
  return std::max(least_ms, kRetryMsMin);
}

void FleetState::choose_locked(std::span<const std::size_t> order, FleetRequest& request,
                               std::int64_t now_ns, FleetChoice& choice) {
  const std::size_t class_index = class_of(request.class_name);
  const auto take = [&](std::size_t index) {
    const std::int64_t predicted_us = devices_[index].times.predict_us(class_index);
    devices_[index].backlog_us += predicted_us;
    choice.kind = FleetChoice::Kind::kReserved;
    choice.device = index;
    choice.reservation = reserve(index, class_index, predicted_us);
  };
  bool any_healthy = false;
  for (const std::size_t index : order) {
    LAYARD_CHECK(index < devices_.size());
    FleetDevice& device = devices_[index];
    note(index, device.health.tick(now_ns), now_ns, choice.changes);
    grant(index, now_ns);  // after a cool-down, those who came before
    if (device.health.takes_requests(now_ns) && device.has_room()) {
      take(index);
      return;
    }
    const bool is_healthy = device.health.state() == DeviceState::kHealthy;
    any_healthy = any_healthy || is_healthy;
    if (choice.first_miss == FirstMiss::kNone) {
      choice.first_miss = is_healthy ? FirstMiss::kBusy : FirstMiss::kUnhealthy;
    }
  }
  const bool may_wait = request.may_wait && request.on_turn != nullptr && !is_closed_ &&
                        deadlines_.size() < options_.waiting_max;
  for (const std::size_t index : order) {
    const FleetDevice& device = devices_[index];
    if (!may_wait || device.health.state() != DeviceState::kHealthy || !device.has_queue_room()) {
      continue;
    }
    if (index == order.front()) choice.first_miss = FirstMiss::kNone;
    enqueue(index, request, class_index, now_ns, choice);
    return;
  }
  if (!any_healthy) {
    if (const auto bypass = find_bypass(order)) {
      take(*bypass);
      choice.is_bypass = true;
      if (*bypass == order.front()) choice.first_miss = FirstMiss::kNone;
      return;
    }
  }
  choice.kind = any_healthy ? FleetChoice::Kind::kAllBusy : FleetChoice::Kind::kNoneHealthy;
  choice.retry_after_ms = retry_after_ms(order, now_ns);
}

FleetChanges FleetState::first_byte(Reservation& place, int status, std::int64_t now_ns) {
  if (place.is_served_ || status <= 0 || status >= 500 || status == 429) return {};
  place.is_served_ = true;
  return change(place.device_, now_ns, [&](DeviceHealth& health) {
    const auto changed = health.request_sign(DeviceSign::kServed, place.trial_, now_ns);
    health.end_trial(std::exchange(place.trial_, 0));
    return changed;
  });
}

FleetChanges FleetState::release(Reservation& place, const RequestOutcome& outcome,
                                 std::optional<std::int64_t> when_ns) {
  FleetChanges changes;
  {
    const std::scoped_lock lock(mutex_);
    const std::int64_t now_ns = at(when_ns.value_or(last_ns_));
    FleetDevice& device = devices_[place.device_];
    --device.in_flight;
    device.backlog_us -= place.predicted_us_;
    const bool is_timed = outcome.total_ms >= 0 && outcome.total_ms < kTotalMsMax;
    if (is_timed && outcome.end == RequestEnd::kOk && outcome.status > 0 && outcome.status < 400) {
      device.times.add(place.class_index_, static_cast<std::int64_t>(outcome.total_ms * 1000));
    }
    if (asks_to_wait(outcome)) {
      device.health.cool_down(*outcome.retry_after_ms, now_ns);
    } else if (const auto sign = sign_of(outcome)) {
      const bool is_told = *sign == DeviceSign::kServed && place.is_served_;
      if (!is_told) {
        note(place.device_, device.health.request_sign(*sign, place.trial_, now_ns), now_ns,
             changes);
      }
    }
    if (place.trial_ != 0) device.health.end_trial(place.trial_);
    grant(place.device_, now_ns);
  }
  run_calls();
  return changes;
}

bool FleetState::cancel(std::size_t index, std::uint64_t id) {
  FleetWaiting dropped;  // destroyed after the lock: what its callback holds may call back
  const std::scoped_lock lock(mutex_);
  FleetDevice& device = devices_[index];
  if (!device.waiting.contains(id)) return false;
  dropped = remove(index, id);
  device.backlog_us -= dropped.predicted_us;
  return true;
}

std::vector<std::size_t> FleetState::take_due_probes(std::int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  at(now_ns);
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    FleetDevice& device = devices_[i];
    const auto next_ns = device.health.next_probe_ns();
    if (!device.has_url || device.is_probing || !next_ns.has_value() || *next_ns > now_ns) continue;
    device.is_probing = true;
    due.push_back(i);
  }
  return due;
}

FleetChanges FleetState::probed(std::size_t index, bool passed, std::int64_t now_ns) {
  LAYARD_CHECK(index < devices_.size());
  FleetDevice& device = devices_[index];
  return change(index, now_ns, [&](DeviceHealth& health) {
    device.is_probing = false;
    const std::int64_t progress_ns = device.progress_ns.load(std::memory_order_relaxed);
    if (progress_ns != std::numeric_limits<std::int64_t>::min()) health.progress(progress_ns);
    return health.probe(passed, now_ns);
  });
}

FleetChanges FleetState::tick(std::int64_t now_ns) {
  FleetChanges changes;
  {
    const std::scoped_lock lock(mutex_);
    at(now_ns);
    while (!deadlines_.empty() && std::get<0>(*deadlines_.begin()) <= now_ns) {
      const auto [deadline_ns, id, index] = *deadlines_.begin();
      end_wait(index, id, QueueTurn::Kind::kExpired);
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      note(i, devices_[i].health.tick(now_ns), now_ns, changes);
      grant(i, now_ns);
    }
  }
  run_calls();
  return changes;
}

void FleetState::close() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    for (std::size_t i = 0; i < devices_.size(); ++i) drop_waiting(i, QueueTurn::Kind::kClosed);
  }
  run_calls();
}

std::vector<DeviceView> FleetState::view(std::int64_t now_ns) const {
  const std::scoped_lock lock(mutex_);
  std::vector<DeviceView> out;
  for (const FleetDevice& device : devices_) {
    out.push_back({device.name, device.health.state(), device.health.is_cooling(now_ns),
                   device.in_flight, static_cast<std::int64_t>(device.waiting.size()),
                   device.health.failures_in_a_row(),
                   static_cast<double>(device.backlog_us) / 1000});
  }
  return out;
}

Reservation::Reservation(Reservation&& other) noexcept { *this = std::move(other); }

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  if (const auto state = std::exchange(state_, nullptr)) state->release(*this, {}, std::nullopt);
  state_ = std::exchange(other.state_, nullptr);
  device_ = other.device_;
  class_index_ = other.class_index_;
  predicted_us_ = other.predicted_us_;
  trial_ = other.trial_;
  is_served_ = other.is_served_;
  return *this;
}

Reservation::~Reservation() {
  if (const auto state = std::exchange(state_, nullptr)) state->release(*this, {}, std::nullopt);
}

FleetChanges Reservation::first_byte(int status, std::int64_t now_ns) {
  return state_ == nullptr ? FleetChanges{} : state_->first_byte(*this, status, now_ns);
}

void Reservation::progress(std::int64_t now_ns) {
  if (state_ != nullptr) state_->progress(device_, now_ns);
}

FleetChanges Reservation::release(const RequestOutcome& outcome, std::int64_t now_ns) {
  const auto state = std::exchange(state_, nullptr);
  return state == nullptr ? FleetChanges{} : state->release(*this, outcome, now_ns);
}

QueueTicket::QueueTicket(QueueTicket&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), device_(other.device_), id_(other.id_) {}

QueueTicket& QueueTicket::operator=(QueueTicket&& other) noexcept {
  if (this != &other) {
    cancel();
    state_ = std::exchange(other.state_, nullptr);
    device_ = other.device_;
    id_ = other.id_;
  }
  return *this;
}

bool QueueTicket::cancel() {
  const auto state = std::exchange(state_, nullptr);
  return state != nullptr && state->cancel(device_, id_);
}

Fleet::Fleet(const RoutePolicy& policy, const FleetOptions& options)
    : state_(std::make_shared<FleetState>(policy, options)) {}

Fleet::~Fleet() { close(); }

FleetChoice Fleet::choose_and_reserve(std::span<const std::size_t> order, FleetRequest request,
                                      std::int64_t now_ns) {
  return state_->choose(order, request, now_ns);
}

std::vector<std::size_t> Fleet::take_due_probes(std::int64_t now_ns) {
  return state_->take_due_probes(now_ns);
}
FleetChanges Fleet::probed(std::size_t device, bool passed, std::int64_t now_ns) {
  return state_->probed(device, passed, now_ns);
}
FleetChanges Fleet::started(std::size_t device, std::int64_t now_ns) {
  return state_->change(device, now_ns, [&](DeviceHealth& one) { return one.started(now_ns); });
}
FleetChanges Fleet::stopped(std::size_t device, std::int64_t now_ns) {
  return state_->change(device, now_ns, [](DeviceHealth& one) { return one.stopped(); });
}
FleetChanges Fleet::drain(std::size_t device, std::int64_t now_ns) {
  return state_->change(device, now_ns, [](DeviceHealth& one) { return one.drain(); });
}
FleetChanges Fleet::resume(std::size_t device, bool running, std::int64_t now_ns) {
  return state_->change(device, now_ns, [&](DeviceHealth& one) { return one.resume(running); });
}
FleetChanges Fleet::tick(std::int64_t now_ns) { return state_->tick(now_ns); }
void Fleet::close() { state_->close(); }
std::vector<DeviceView> Fleet::view(std::int64_t now_ns) const { return state_->view(now_ns); }

}  // namespace layard::gateway
