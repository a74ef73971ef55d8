#include "gateway/device_health.h"

#include <algorithm>

namespace layard::gateway {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;

}  // namespace

std::string_view device_state_name(DeviceState state) {
  constexpr std::string_view kNames[] = {"starting", "healthy", "ejected", "half_open", "draining"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view device_sign_name(DeviceSign sign) {
  constexpr std::string_view kNames[] = {
      "probe_passed", "probe_failed", "served",  "connect_failed", "head_timeout", "server_error",
      "retry_time",   "started",      "stopped", "drain",          "resume"};
  return kNames[static_cast<std::size_t>(sign)];
}

DeviceHealth::Change DeviceHealth::move(DeviceState to, DeviceSign sign) {
  if (state_ == to) return std::nullopt;
  const HealthChange change{state_, to, sign};
  state_ = to;
  successes_ = 0;
  if (to == DeviceState::kHealthy || to == DeviceState::kStarting) {
    probe_failures_ = 0;
    request_failures_ = 0;
  }
  return change;
}

DeviceHealth::Change DeviceHealth::tick(std::int64_t now_ns) {
  if (state_ != DeviceState::kEjected || now_ns < retry_ns_) return std::nullopt;
  // A trial of an earlier try that is still out has no say in this one.
  trial_ = 0;
  return move(DeviceState::kHalfOpen, DeviceSign::kRetryTime);
}

bool DeviceHealth::takes_requests(std::int64_t now_ns) const {
  if (is_cooling(now_ns)) return false;
  return state_ == DeviceState::kHealthy || (state_ == DeviceState::kHalfOpen && trial_ == 0);
}

std::uint64_t DeviceHealth::begin_request() {
  if (state_ != DeviceState::kHalfOpen || trial_ != 0) return 0;
  trial_ = ++trials_;
  return trial_;
}

void DeviceHealth::end_trial(std::uint64_t trial) {
  if (trial == trial_) trial_ = 0;
}

DeviceHealth::Change DeviceHealth::eject(DeviceSign sign, std::int64_t now_ns) {
  const bool was_well =
      state_ == DeviceState::kHealthy && now_ns - restored_ns_ >= rule_.retry_ms_max * kMsNs;
  if (was_well) wait_ms_ = 0;
  wait_ms_ = wait_ms_ == 0 ? rule_.retry_ms : std::min(wait_ms_ * 2, rule_.retry_ms_max);
  retry_ns_ = now_ns + wait_ms_ * kMsNs;
  return move(DeviceState::kEjected, sign);
}

DeviceHealth::Change DeviceHealth::success(DeviceSign sign, std::int64_t now_ns) {
  if (state_ != DeviceState::kHalfOpen || ++successes_ < rule_.successes) return std::nullopt;
  restored_ns_ = now_ns;
  return move(DeviceState::kHealthy, sign);
}

DeviceHealth::Change DeviceHealth::request_sign(DeviceSign sign, std::uint64_t trial,
                                                std::int64_t now_ns) {
  if (sign == DeviceSign::kServed) {
    request_failures_ = 0;
    probe_failures_ = 0;
    if (state_ == DeviceState::kHealthy) wait_ms_ = 0;
    if (state_ == DeviceState::kEjected) {
      // An older request is served: it lives, so the next try need not wait.
      retry_ns_ = now_ns;
      trial_ = 0;
      return move(DeviceState::kHalfOpen, sign);
    }
    return success(sign, now_ns);
  }
  if (state_ == DeviceState::kHealthy) {
    return ++request_failures_ >= rule_.failures ? eject(sign, now_ns) : std::nullopt;
  }
  if (state_ == DeviceState::kHalfOpen && trial != 0 && trial == trial_) return eject(sign, now_ns);
  return std::nullopt;
}

void DeviceHealth::cool_down(std::int64_t wait_ms, std::int64_t now_ns) {
  const std::int64_t wait = std::clamp<std::int64_t>(wait_ms, 0, rule_.cool_down_ms_max);
  cool_until_ns_ = std::max(cool_until_ns_, now_ns + wait * kMsNs);
}

bool DeviceHealth::has_progress(std::int64_t now_ns) const {
  const std::int64_t window_ns = (rule_.probe_interval_ms + rule_.probe_timeout_ms) * kMsNs;
  return progress_ns_.has_value() && now_ns - *progress_ns_ < window_ns;
}

DeviceHealth::Change DeviceHealth::probe(bool passed, std::int64_t now_ns) {
  probed_ns_ = now_ns;
  if (passed) {
    probe_failures_ = 0;
    return success(DeviceSign::kProbePassed, now_ns);
  }
  if (has_progress(now_ns)) {
    probe_failures_ = 0;
    return std::nullopt;
  }
  if (state_ == DeviceState::kHealthy) {
    return ++probe_failures_ >= rule_.failures ? eject(DeviceSign::kProbeFailed, now_ns)
                                               : std::nullopt;
  }
  if (state_ == DeviceState::kHalfOpen) return eject(DeviceSign::kProbeFailed, now_ns);
  return std::nullopt;
}

std::optional<std::int64_t> DeviceHealth::next_probe_ns() const {
  if (state_ == DeviceState::kDraining || state_ == DeviceState::kStarting) return std::nullopt;
  if (state_ == DeviceState::kEjected) return retry_ns_;
  if (!probed_ns_.has_value()) return 0;
  const std::int64_t next = *probed_ns_ + rule_.probe_interval_ms * kMsNs;
  // The first one of a try comes with the try.
  return state_ == DeviceState::kHalfOpen && *probed_ns_ < retry_ns_ ? std::min(next, retry_ns_)
                                                                     : next;
}

DeviceHealth::Change DeviceHealth::started(std::int64_t now_ns) {
  if (state_ != DeviceState::kStarting) return std::nullopt;
  restored_ns_ = now_ns;
  return move(DeviceState::kHealthy, DeviceSign::kStarted);
}

DeviceHealth::Change DeviceHealth::stopped() {
  if (state_ == DeviceState::kDraining) return std::nullopt;
  trial_ = 0;
  cool_until_ns_ = 0;
  return move(DeviceState::kStarting, DeviceSign::kStopped);
}

DeviceHealth::Change DeviceHealth::drain() {
  return move(DeviceState::kDraining, DeviceSign::kDrain);
}

DeviceHealth::Change DeviceHealth::resume(bool running) {
  if (state_ != DeviceState::kDraining) return std::nullopt;
  trial_ = 0;
  return move(running ? DeviceState::kHealthy : DeviceState::kStarting, DeviceSign::kResume);
}

std::int64_t DeviceHealth::retry_at_ns(std::int64_t now_ns) const {
  const std::int64_t retry = state_ == DeviceState::kEjected ? retry_ns_ : now_ns;
  return std::max({now_ns, retry, cool_until_ns_});
}

std::int64_t DeviceHealth::failures_in_a_row() const {
  return std::max(probe_failures_, request_failures_);
}

}  // namespace layard::gateway
