/// How long a child process that ended is left alone before it is started again.
#pragma once

#include <cstdint>

namespace layard::gateway {

struct RestartRule {
  std::int64_t first_wait_ms = 1000;  ///< 1 or more
  std::int64_t wait_ms_max = 60000;   ///< at least first_wait_ms
  std::int64_t good_life_ms = 60000;  ///< who lived this long begins anew with the first wait
  /// Ends without a good life between them after which it is given up; 0: never.
  int failures_max = 0;
};

/// The waits of one child: the first, then each twice the one before, up to the longest.
/// Thread-safety: one thread.
class RestartPlan {
 public:
  explicit RestartPlan(const RestartRule& rule) : rule_(rule) {}

  /// The child ended, or could not be started, after a life of `life_ms`: how long to wait, in
  /// milliseconds.
  std::int64_t wait_after(std::int64_t life_ms);
  /// Whether it is not to be started again.
  bool is_given_up() const { return rule_.failures_max > 0 && failures_ >= rule_.failures_max; }
  /// Ends in a row without a good life.
  int failures() const { return failures_; }
  /// As if nothing had ended so far.
  void reset();

 private:
  RestartRule rule_;
  std::int64_t wait_ms_ = 0;  // 0: the next is the first
  int failures_ = 0;
};

}  // namespace layard::gateway
