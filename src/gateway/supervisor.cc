#include "gateway/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "base/clock.h"

namespace layard::gateway {
namespace {

// After SIGKILL, until what is left is left to the kernel: longer than a guard needs.
constexpr std::chrono::milliseconds kKillWait{8000};
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 6> kStateNames = {"starting",    "running", "stopping",
                                                         "backing-off", "stopped", "failed"};

std::int64_t now_ms() { return base::real_clock().now_ns() / 1'000'000; }

bool is_over(ChildState state) {
  return state == ChildState::kStopped || state == ChildState::kFailed;
}

Error refused(std::string_view device, const std::string& why) {
  return {ErrorCode::kInvalidRequest, "device '" + std::string(device.substr(0, 256)) + "' " + why};
}

Error ending() {
  return {ErrorCode::kCancelled, "the gateway is stopping; no backend is started any more"};
}

}  // namespace

std::string_view child_state_name(ChildState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

struct Supervisor::Device {
  Device(SupervisedChild child, const SupervisorOptions& options)
      : what(std::move(child)), output(options.output_bytes), plan(options.restart) {}

  const SupervisedChild what;
  OutputRing output;

  // Guarded by the supervisor's mutex; the status is written by its thread only.
  ChildStatus status = {};
  Order order = Order::kNone;
  std::string order_why = {};
  pid_t ready_pid = -1;

  // Of the supervisor's thread.
  std::unique_ptr<ChildProcess> process = {};
  RestartPlan plan;
  std::int64_t started_ms = 0;
  std::int64_t ready_by_ms = kNever;
  std::int64_t retry_at_ms = 0;  // of kBackingOff, and before the first start
  bool is_for_good = false;      // of kStopping: it is not to be started again
  bool is_killed = false;        // SIGKILL was sent
  std::string restart_why = {};  // of kStopping, when it is to be started again
};

Supervisor::Supervisor(SupervisorOptions options)
    : options_(std::move(options)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Supervisor::~Supervisor() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = is_killing_ = is_closing_ = true;
  }
  wake();
  thread_.join();
}

Result<Supervisor::Device*> Supervisor::find(std::string_view device) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return refused(device, "was never started");
  return found->second.get();
}

Status Supervisor::make_room(const std::string& device) {
  const auto found = devices_.find(device);
  if (found != devices_.end()) {
    const ChildState state = found->second->status.state;
    if (is_over(state)) return {};
    return refused(device, "is " + std::string(child_state_name(state)) + "; stop it first");
  }
  if (devices_.size() >= kSupervisedMax) {
    std::erase_if(devices_, [](const auto& entry) { return is_over(entry.second->status.state); });
  }
  if (devices_.size() < kSupervisedMax) return {};
  return refused(device, "is one too many: " + std::to_string(kSupervisedMax) + " may run");
}

Status Supervisor::start(SupervisedChild child) {
  constexpr std::size_t kNameBytesMax = 256;
  if (child.device.empty() || child.device.size() > kNameBytesMax) {
    return refused(child.device, "needs a name of 1 to 256 bytes");
  }
  auto argv = with_port(std::move(child.spec.argv), child.port);
  if (!argv.ok()) return refused(child.device, "cannot run: " + argv.error().message);
  child.spec.argv = *std::move(argv);
  const Status checked = check_child_spec(child.spec);
  if (!checked.ok()) return refused(child.device, "cannot run: " + checked.error().message);
  const std::string name = child.device;
  auto device = std::make_shared<Device>(std::move(child), options_);
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return ending();
    LAYARD_TRY(make_room(name));
    devices_[name].swap(device);  // the old one goes without the lock
  }
  wake();
  return {};
}

Status Supervisor::restart(std::string_view device, std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return ending();
    LAYARD_ASSIGN(Device * found, find(device));
    found->order = Order::kRestart;
    found->order_why = std::move(why);
  }
  wake();
  return {};
}

Status Supervisor::mark_ready(std::string_view device, pid_t pid) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return ending();
    LAYARD_ASSIGN(Device * found, find(device));
    found->ready_pid = pid;
  }
  wake();
  return {};
}

Status Supervisor::stop(std::string_view device) {
  {
    const std::lock_guard lock(mutex_);
    LAYARD_ASSIGN(Device * found, find(device));
    found->order = Order::kStop;
  }
  wake();
  return {};
}

bool Supervisor::stop_all(std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  wake();
  const auto wait = std::chrono::milliseconds(std::clamp<std::int64_t>(wait_ms, 0, 2 * kStopMsMax));
  if (settled_.wait_for(lock, wait, [this] { return is_settled_; })) return !is_killing_;
  is_killing_ = true;
  wake();
  settled_.wait_for(lock, kKillWait, [this] { return is_settled_; });
  return false;
}

std::optional<ChildStatus> Supervisor::status(std::string_view device) const {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return std::nullopt;
  return found->second->status;
}

std::map<std::string, ChildStatus, std::less<>> Supervisor::statuses() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, ChildStatus, std::less<>> out;
  for (const auto& [name, device] : devices_) out.emplace(name, device->status);
  return out;
}

std::string Supervisor::output(std::string_view device) const {
  std::shared_ptr<Device> found;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = devices_.find(device);
    if (entry == devices_.end()) return {};
    found = entry->second;
  }
  return found->output.text();
}

void Supervisor::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_.get(), &one, sizeof one);
}

void Supervisor::run() {
  std::int64_t close_by_ms = kNever;
  while (true) {
    const bool is_closing = tick();
    if (is_closing && close_by_ms == kNever) close_by_ms = now_ms() + kKillWait.count();
    if (is_closing) {
      const bool is_left =
          std::ranges::any_of(seen_, [](const auto& device) { return device->process != nullptr; });
      if (!is_left || now_ms() >= close_by_ms) break;
    }
    wait_for_news(is_closing);
  }
  seen_.clear();
}

// One look at every device. Returns whether the thread is to end.
bool Supervisor::tick() {
  bool is_ending = false;
  bool is_killing = false;
  bool is_closing = false;
  {
    const std::lock_guard lock(mutex_);
    is_ending = is_ending_;
    is_killing = is_killing_;
    is_closing = is_closing_;
    seen_.clear();
    for (const auto& [name, device] : devices_) seen_.push_back(device);
  }
  for (const auto& device : seen_) tick_device(*device, is_ending, is_killing);
  const bool is_settled = is_ending && std::ranges::all_of(seen_, [](const auto& device) {
                            return device->process == nullptr && is_over(device->status.state);
                          });
  if (is_settled) {
    {
      const std::lock_guard lock(mutex_);
      is_settled_ = true;
    }
    settled_.notify_all();
  }
  return is_closing;
}

void Supervisor::tick_device(Device& device, bool is_ending, bool is_killing) {
  if (device.process) {
    device.process->pump();
    if (device.process->ended()) take_end(device);
  }
  obey(device, is_ending);
  if (device.process && is_killing && !std::exchange(device.is_killed, true)) {
    device.process->kill();
  }
  check_times(device);
}

void Supervisor::obey(Device& device, bool is_ending) {
  Order order = Order::kNone;
  std::string why;
  bool is_ready = false;
  {
    const std::lock_guard lock(mutex_);
    order = std::exchange(device.order, Order::kNone);
    why = std::move(device.order_why);
    const pid_t ready_pid = std::exchange(device.ready_pid, -1);
    is_ready = ready_pid > 0 && ready_pid == device.status.pid;
  }
  if (is_ready && device.status.state == ChildState::kStarting) {
    device.ready_by_ms = kNever;
    change(device, ChildState::kRunning, "");
  }
  if (is_ending || order == Order::kStop) return obey_stop(device);
  if (order == Order::kRestart) obey_restart(device, std::move(why));
}

void Supervisor::obey_stop(Device& device) {
  const ChildState state = device.status.state;
  if (device.process == nullptr) {
    if (state != ChildState::kStopped) change(device, ChildState::kStopped, "it was asked to stop");
    return;
  }
  if (state == ChildState::kStopping && device.is_for_good) return;
  device.is_for_good = true;
  if (state == ChildState::kStopping) return;
  device.process->stop();
  change(device, ChildState::kStopping, "it was asked to stop");
}

void Supervisor::obey_restart(Device& device, std::string why) {
  const ChildState state = device.status.state;
  if (device.process) {
    device.is_for_good = false;
    device.restart_why = why;
    if (state == ChildState::kStopping) return;
    device.process->stop();
    return change(device, ChildState::kStopping, std::move(why));
  }
  if (!is_over(state)) return;  // it waits for its start
  device.plan.reset();
  launch(device);
}

void Supervisor::check_times(Device& device) {
  const std::int64_t now = now_ms();
  const ChildState state = device.status.state;
  if (state == ChildState::kStarting && device.process && now >= device.ready_by_ms) {
    device.ready_by_ms = kNever;
    return obey_restart(device,
                        "it was not ready in " + std::to_string(device.what.ready_ms) + " ms");
  }
  const bool is_waiting = state == ChildState::kStarting || state == ChildState::kBackingOff;
  if (is_waiting && !device.process && now >= device.retry_at_ms) launch(device);
}

void Supervisor::launch(Device& device) {
  device.is_for_good = false;
  device.is_killed = false;
  device.restart_why.clear();
  auto started = ChildProcess::start(device.what.spec, options_.guard_program, device.output);
  device.started_ms = now_ms();
  {
    const std::lock_guard lock(mutex_);
    ++device.status.starts;
    device.status.error.reset();
    if (!started.ok()) device.status.error = started.error();
    if (started.ok()) device.status.pid = (*started)->pid();
  }
  if (!started.ok()) return back_off(device, 0, started.error().message);
  device.process = *std::move(started);
  device.ready_by_ms = device.what.ready_ms > 0 ? device.started_ms + device.what.ready_ms : kNever;
  change(device, ChildState::kStarting, "");
}

void Supervisor::take_end(Device& device) {
  const std::string why = child_end_text(*device.process->ended());
  const bool was_asked = device.status.state == ChildState::kStopping;
  const std::int64_t life_ms = now_ms() - device.started_ms;
  device.process.reset();
  device.ready_by_ms = kNever;
  {
    const std::lock_guard lock(mutex_);
    device.status.pid = -1;
  }
  if (was_asked && device.is_for_good) return change(device, ChildState::kStopped, why);
  back_off(device, life_ms, was_asked ? device.restart_why + "; " + why : why);
}

void Supervisor::back_off(Device& device, std::int64_t life_ms, const std::string& why) {
  const std::int64_t wait_ms = device.plan.wait_after(life_ms);
  const bool is_given_up = device.plan.is_given_up();
  device.retry_at_ms = now_ms() + wait_ms;
  {
    const std::lock_guard lock(mutex_);
    device.status.failures = device.plan.failures();
    device.status.wait_ms = is_given_up ? 0 : wait_ms;
  }
  if (!is_given_up) return change(device, ChildState::kBackingOff, why);
  change(device, ChildState::kFailed,
         why + "; given up after " + std::to_string(device.plan.failures()) + " ends in a row");
}

void Supervisor::change(Device& device, ChildState state, std::string why) {
  ChildChange told;
  told.device = device.what.device;
  {
    const std::lock_guard lock(mutex_);
    told.from = std::exchange(device.status.state, state);
    device.status.why = std::move(why);
    if (state != ChildState::kBackingOff) device.status.wait_ms = 0;
    told.status = device.status;
  }
  if (options_.on_change) options_.on_change(told);
}

void Supervisor::wait_for_news(bool is_closing) const {
  // Short while a bound of run() counts, or without a descriptor that wakes this.
  const std::int64_t wait_ms_max = is_closing || !wake_fd_.is_open() ? 100 : 60000;
  std::vector<pollfd> watched = {pollfd{wake_fd_.get(), POLLIN, 0}};
  std::int64_t until_ms = kNever;
  for (const auto& device : seen_) {
    if (device->process && device->process->ended()) {
      until_ms = 0;  // within its start: nothing more will come of it
    } else if (device->process) {
      watched.push_back({device->process->control_fd(), POLLIN, 0});
      watched.push_back({device->process->output_fd(), POLLIN, 0});
      until_ms = std::min(until_ms, device->ready_by_ms);
    } else if (!is_over(device->status.state)) {
      until_ms = std::min(until_ms, device->retry_at_ms);
    }
  }
  const std::int64_t wait_ms = std::clamp<std::int64_t>(
      until_ms == kNever ? wait_ms_max : until_ms - now_ms(), 0, wait_ms_max);
  (void)::poll(watched.data(), watched.size(), static_cast<int>(wait_ms));
  std::uint64_t count = 0;
  (void)!::read(wake_fd_.get(), &count, sizeof count);
}

}  // namespace layard::gateway
