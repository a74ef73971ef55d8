#include "gateway/rate_limit.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/checks.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kPerMinuteMax = 1'000'000;
constexpr std::int64_t kAtOnceRetryMs = 1000;

}  // namespace

class RateState {
 public:
  explicit RateState(std::size_t callers_max) : callers_max_(callers_max) {
    LAYARD_CHECK(callers_max > 0);
  }

  RateAdmission admit(const std::string& caller, const CallerLimits& limits, std::int64_t now_ns) {
    const std::scoped_lock lock(mutex_);
    auto found = callers_.find(caller);
    if (found == callers_.end()) {
      if (!make_room()) return {RateRefusal::kCallers, kAtOnceRetryMs, {}};
      found = callers_.emplace(caller, Caller{}).first;
      put_idle(found);
    }
    Caller& one = found->second;
    if (one.in_flight == 0) idle_.splice(idle_.end(), idle_, one.idle);
    if (limits.requests_max > 0 && one.in_flight >= limits.requests_max) {
      return {RateRefusal::kAtOnce, kAtOnceRetryMs, {}};
    }
    if (const std::int64_t wait_ms = take(one, limits, now_ns); wait_ms > 0) {
      return {RateRefusal::kPerMinute, wait_ms, {}};
    }
    if (one.in_flight++ == 0) idle_.erase(one.idle);
    ++in_flight_;
    return {};
  }

  void end(const std::string& caller) {
    const std::scoped_lock lock(mutex_);
    const auto found = callers_.find(caller);
    LAYARD_CHECK(found != callers_.end() && found->second.in_flight > 0);
    --in_flight_;
    if (--found->second.in_flight == 0) put_idle(found);
  }

  std::size_t callers() const {
    const std::scoped_lock lock(mutex_);
    return callers_.size();
  }
  std::size_t in_flight() const {
    const std::scoped_lock lock(mutex_);
    return in_flight_;
  }

 private:
  struct Caller {
    // When the bucket is full again: each request moves it on by one interval, so that the bucket
    // needs no fraction and no upkeep.
    std::int64_t full_ns = 0;
    std::int64_t in_flight = 0;
    std::list<const std::string*>::iterator idle = {};  // valid while in_flight is 0
  };
  using Callers = std::unordered_map<std::string, Caller>;

  void put_idle(Callers::iterator caller) {
    caller->second.idle = idle_.insert(idle_.end(), &caller->first);
  }

  bool make_room() {
    if (callers_.size() < callers_max_) return true;
    if (idle_.empty()) return false;
    const auto oldest = callers_.find(*idle_.front());
    idle_.pop_front();
    callers_.erase(oldest);
    return true;
  }

  // Milliseconds until there is a token; 0: one was taken.
  static std::int64_t take(Caller& caller, const CallerLimits& limits, std::int64_t now_ns) {
    if (limits.per_minute <= 0) return 0;
    const std::int64_t per_minute = std::min(limits.per_minute, kPerMinuteMax);
    const std::int64_t burst =
        limits.burst > 0 ? std::min(limits.burst, kPerMinuteMax) : per_minute;
    const std::int64_t interval_ns = kMinuteNs / per_minute;
    const std::int64_t full_ns = std::max(caller.full_ns, now_ns);
    const std::int64_t over_ns = full_ns - now_ns - (burst - 1) * interval_ns;
    if (over_ns > 0) return (over_ns + kMsNs - 1) / kMsNs;
    caller.full_ns = full_ns + interval_ns;
    return 0;
  }

  const std::size_t callers_max_;
  mutable std::mutex mutex_;
  Callers callers_;
  std::list<const std::string*> idle_;  // who asked longest ago first
  std::size_t in_flight_ = 0;
};

RateLease::RateLease(RateLease&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), caller_(std::move(other.caller_)) {}

RateLease& RateLease::operator=(RateLease&& other) noexcept {
  if (this != &other) {
    end();
    state_ = std::exchange(other.state_, nullptr);
    caller_ = std::move(other.caller_);
  }
  return *this;
}

void RateLease::end() {
  if (const auto state = std::exchange(state_, nullptr)) state->end(caller_);
}

RateLimiter::RateLimiter(std::size_t callers_max)
    : state_(std::make_shared<RateState>(callers_max)) {}

RateLimiter::~RateLimiter() = default;

RateAdmission RateLimiter::admit(std::string_view caller, const CallerLimits& limits,
                                 std::int64_t now_ns) {
  std::string name(caller);
  RateAdmission out = state_->admit(name, limits, now_ns);
  if (out.ok()) out.lease = RateLease(state_, std::move(name));
  return out;
}

std::size_t RateLimiter::callers() const { return state_->callers(); }
std::size_t RateLimiter::in_flight() const { return state_->in_flight(); }

}  // namespace layard::gateway
