#include "base/clock.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace layard::base {

std::int64_t RealClock::now_ns() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

bool RealClock::sleep_ms(std::int64_t duration_ms, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  // Nothing but the stop token ever wakes this; the predicate keeps early wake-ups asleep.
  wake.wait_for(lock, stop, std::chrono::milliseconds(duration_ms), [] { return false; });
  return !stop.stop_requested();
}

Clock& real_clock() {
  static RealClock clock;  // has no state, so sharing it is safe
  return clock;
}

bool FakeClock::sleep_ms(std::int64_t duration_ms, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  now_ns_ += duration_ms * 1'000'000;
  return true;
}

}  // namespace layard::base
