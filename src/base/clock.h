/// Monotonic time behind an interface, so that waits can be tested without waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

namespace layard::base {

/// Thread-safety: any number of callers.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Nanoseconds since an arbitrary start; never goes back.
  virtual std::int64_t now_ns() const = 0;
  double now_ms() const { return static_cast<double>(now_ns()) / 1e6; }

  /// Waits `duration_ms` or until `stop` is requested; false when it was stopped.
  virtual bool sleep_ms(std::int64_t duration_ms, const std::stop_token& stop) = 0;
};

/// The machine's monotonic clock.
class RealClock final : public Clock {
 public:
  std::int64_t now_ns() const override;
  bool sleep_ms(std::int64_t duration_ms, const std::stop_token& stop) override;
};

/// One for everybody.
Clock& real_clock();

/// A clock that moves only when told or slept on; sleeping returns at once.
class FakeClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_.load(); }
  bool sleep_ms(std::int64_t duration_ms, const std::stop_token& stop) override;
  void advance_ns(std::int64_t duration_ns) { now_ns_ += duration_ns; }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

}  // namespace layard::base
