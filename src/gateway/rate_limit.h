/// How many requests a caller may make: per minute, and at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace layard::gateway {

/// What one caller may do; 0 is no limit.
struct CallerLimits {
  std::int64_t per_minute = 0;    ///< at most a million
  std::int64_t burst = 0;         ///< requests at once after a pause; 0: per_minute
  std::int64_t requests_max = 0;  ///< at once
};

enum class RateRefusal : std::uint8_t {
  kNone,
  kPerMinute,
  kAtOnce,
  kCallers,  ///< callers_max are busy
};

class RateState;

/// A caller's request under way, ended by its destruction. It may outlive its limiter.
/// Thread-safety: one caller at a time.
class RateLease {
 public:
  RateLease() = default;
  RateLease(RateLease&& other) noexcept;
  RateLease& operator=(RateLease&& other) noexcept;
  ~RateLease() { end(); }
  void end();

 private:
  friend class RateLimiter;
  RateLease(std::shared_ptr<RateState> state, std::string caller)
      : state_(std::move(state)), caller_(std::move(caller)) {}

  std::shared_ptr<RateState> state_;
  std::string caller_;
};

struct RateAdmission {
  RateRefusal refusal = RateRefusal::kNone;
  /// When to try again; of a refusal at least 1. Requests at once end when they end: 1000.
  std::int64_t retry_after_ms = 0;
  RateLease lease = {};

  bool ok() const { return refusal == RateRefusal::kNone; }
};

/// Bounds: `callers_max` callers; beyond them the idle one that asked longest ago is forgotten, and
/// starts with a full burst when it comes again. A refused request costs the caller nothing.
/// Thread-safety: any number of callers.
class RateLimiter {
 public:
  explicit RateLimiter(std::size_t callers_max);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  /// Asks for one request. `caller` names the caller, as the name of a key: not the key. Limits may
  /// differ from call to call; the latest count.
  RateAdmission admit(std::string_view caller, const CallerLimits& limits, std::int64_t now_ns);

  std::size_t callers() const;
  /// Requests under way of all callers.
  std::size_t in_flight() const;

 private:
  std::shared_ptr<RateState> state_;
};

}  // namespace layard::gateway
