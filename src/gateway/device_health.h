/// Whether a device is fit for requests: what probes and requests tell of it, as one state.
///
/// starting  a child process that has not answered yet
/// healthy   takes requests
/// ejected   failed too often in a row; waits for its next try
/// half_open its next try: one request at a time, and probes
/// draining  takes no new requests, on somebody's order
///
/// - One failure changes nothing in a healthy device; `failures` in a row do. Probes and requests
///   are counted apart, as a server that answers its probes may still fail each request.
/// - A device that produces tokens is well, however late it answers its probes.
/// - A server that says when it will have room (429 or 503 with Retry-After) is left alone until
///   then, at most cool_down_ms_max, and stays healthy.
/// - The waits before a try are 1, 2, 4, ... up to 60 s; a request that is served starts them anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace layard::gateway {

enum class DeviceState : std::uint8_t { kStarting, kHealthy, kEjected, kHalfOpen, kDraining };

/// `starting`, `healthy`, `ejected`, `half_open`, `draining`.
std::string_view device_state_name(DeviceState state);

/// What was seen of a device.
enum class DeviceSign : std::uint8_t {
  kProbePassed,
  kProbeFailed,
  kServed,         ///< a reply's head, of a status below 500
  kConnectFailed,  ///< or the connection broke before the reply
  kHeadTimeout,
  kServerError,  ///< a status of 500 or more but 501
  kRetryTime,    ///< an ejected device's wait is over
  kStarted,      ///< the child answers
  kStopped,      ///< the child ended
  kDrain,
  kResume,
};

/// `probe_passed`, `probe_failed`, `served`, ...
std::string_view device_sign_name(DeviceSign sign);

struct HealthChange {
  DeviceState from;
  DeviceState to;
  DeviceSign sign;  ///< that made it
};

struct HealthRule {
  std::int64_t failures = 3;   ///< at least 1
  std::int64_t successes = 1;  ///< at least 1
  std::int64_t probe_interval_ms = 2000;
  std::int64_t probe_timeout_ms = 1000;
  std::int64_t retry_ms = 1000;  ///< the first wait of an ejected device
  std::int64_t retry_ms_max = 60'000;
  std::int64_t cool_down_ms_max = 60'000;
};

/// One device. Times are of one monotonic clock. Thread-safety: one caller at a time (Fleet holds
/// it under its lock).
class DeviceHealth {
 public:
  using Change = std::optional<HealthChange>;

  DeviceHealth(const HealthRule& rule, DeviceState state) : rule_(rule), state_(state) {}

  DeviceState state() const { return state_; }
  /// Ejected, and the wait is over: makes it half-open.
  Change tick(std::int64_t now_ns);

  /// Whether a request may go there now. In half-open only while no trial is out.
  bool takes_requests(std::int64_t now_ns) const;
  bool is_cooling(std::int64_t now_ns) const { return now_ns < cool_until_ns_; }
  /// A request goes there. Not 0: it is the half-open device's trial, of this number, to be ended
  /// with end_trial().
  std::uint64_t begin_request();
  /// No effect unless it is the trial that is out.
  void end_trial(std::uint64_t trial);

  /// What a request saw: kServed, kConnectFailed, kHeadTimeout or kServerError. `trial`: what
  /// begin_request said of it. Of a half-open device only failures of the trial that is out count.
  Change request_sign(DeviceSign sign, std::uint64_t trial, std::int64_t now_ns);
  /// The server asked to be left alone. Bounds: from 0 to cool_down_ms_max.
  void cool_down(std::int64_t wait_ms, std::int64_t now_ns);
  /// Tokens arrived at `at_ns`.
  void progress(std::int64_t at_ns) { progress_ns_ = at_ns; }
  /// A probe ended.
  Change probe(bool passed, std::int64_t now_ns);
  /// When the next one is due; nothing while there should be none: of a starting device, whose
  /// answer is told by started(), and of a draining one.
  std::optional<std::int64_t> next_probe_ns() const;

  /// The child answers; no effect but on a starting device.
  Change started(std::int64_t now_ns);
  /// The child ended: starting again, unless it is draining.
  Change stopped();
  Change drain();
  /// Ends a drain; `running`: it is healthy, else starting.
  Change resume(bool running);

  /// When it may be tried again: the end of an ejected device's wait or of a cool-down; `now_ns`
  /// if neither.
  std::int64_t retry_at_ns(std::int64_t now_ns) const;
  std::int64_t failures_in_a_row() const;

 private:
  Change move(DeviceState to, DeviceSign sign);
  Change eject(DeviceSign sign, std::int64_t now_ns);
  Change success(DeviceSign sign, std::int64_t now_ns);
  bool has_progress(std::int64_t now_ns) const;

  HealthRule rule_;
  DeviceState state_;
  std::int64_t probe_failures_ = 0;    // in a row
  std::int64_t request_failures_ = 0;  // in a row
  std::int64_t successes_ = 0;         // in a row, while half-open
  std::int64_t wait_ms_ = 0;           // of the last ejection; 0: none yet
  std::int64_t restored_ns_ = 0;
  std::int64_t retry_ns_ = 0;
  std::int64_t cool_until_ns_ = 0;
  std::optional<std::int64_t> progress_ns_;
  std::optional<std::int64_t> probed_ns_;
  std::uint64_t trial_ = 0;  // that is out; 0: none
  std::uint64_t trials_ = 0;
};

}  // namespace layard::gateway
