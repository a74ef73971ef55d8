/// The devices with what runs and waits on them: chooses one and takes a place there, in one step.
///
/// Invariants:
/// - A device never runs more than its requests_max, and holds no more than its queue_max waiting.
/// - Requests wait in the order they came, per device; one that may run never waits behind one that
///   came later.
/// - Every place that was taken is given back once, whatever ends it, so that the counts return to
///   zero. Every waiting request is called once, or was cancelled.
/// - Callbacks are called without a lock, one at a time, and not from within another callback; they
///   should be short, such as handing the turn to a loop.
/// Times are of one monotonic clock, in nanoseconds; what is a place is one in
/// RoutePolicy::servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/device_health.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// A device's state changed; for the log.
struct FleetChange {
  std::size_t device = 0;
  HealthChange change;
};
using FleetChanges = std::vector<FleetChange>;

enum class RequestEnd : std::uint8_t {
  kOk,                     ///< all of the reply was relayed, whatever its status
  kClientGone,             ///< says nothing of the device
  kFailedBeforeFirstByte,  ///< nothing went to the client
  kFailedAfter,
};

/// How a request ended.
struct RequestOutcome {
  RequestEnd end = RequestEnd::kClientGone;
  int status = 0;  ///< of the device's reply; 0: there was none
  /// Without a reply: kConnectFailed or kHeadTimeout.
  DeviceSign fault = DeviceSign::kConnectFailed;
  std::optional<std::int64_t> retry_after_ms = std::nullopt;  ///< what the reply asked for
  double first_byte_ms = 0;
  double total_ms = 0;
};

class FleetState;

/// A place on a device. Destroyed without release(): as if the client had gone. It may outlive its
/// fleet. Thread-safety: one caller at a time.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  bool holds() const { return state_ != nullptr; }
  /// REQUIRES: holds().
  std::size_t device() const { return device_; }

  /// The head of a reply came: a status below 500 shows at once that the device serves.
  FleetChanges first_byte(int status, std::int64_t now_ns);
  /// Tokens came. Costs no lock.
  void progress(std::int64_t now_ns);
  /// Gives the place back, and calls those whose turn it is on this thread.
  FleetChanges release(const RequestOutcome& outcome, std::int64_t now_ns);

 private:
  friend class FleetState;
  std::shared_ptr<FleetState> state_;
  std::size_t device_ = 0;
  std::size_t class_index_ = 0;
  std::int64_t predicted_us_ = 0;
  std::uint64_t trial_ = 0;
  bool is_served_ = false;
};

/// What became of a wait.
struct QueueTurn {
  enum class Kind : std::uint8_t {
    kGranted,     ///< `reservation` holds
    kExpired,     ///< the deadline came first
    kDeviceLost,  ///< the device takes no more requests: choose again
    kClosed,      ///< the fleet ends
  };
  Kind kind = Kind::kClosed;
  Reservation reservation = {};
};
using QueueCallback = std::function<void(QueueTurn turn)>;

/// A request that waits; destroyed, it is cancelled. Thread-safety: one caller at a time.
class QueueTicket {
 public:
  QueueTicket() = default;
  QueueTicket(QueueTicket&& other) noexcept;
  QueueTicket& operator=(QueueTicket&& other) noexcept;
  ~QueueTicket() { cancel(); }

  /// Whether it still waited; its callback will not be called then. Else it was called, or will be.
  bool cancel();

 private:
  friend class FleetState;
  std::shared_ptr<FleetState> state_;
  std::size_t device_ = 0;
  std::uint64_t id_ = 0;
};

struct FleetRequest {
  std::string_view class_name = {};  ///< may be empty
  bool may_wait = true;
  /// When a wait ends; at most FleetOptions::wait_ms_max from now, which is also what 0 means.
  std::int64_t deadline_ns = 0;
  /// Called once when a wait ends; perhaps before choose_and_reserve returns, on another thread.
  QueueCallback on_turn = {};
};

/// Why it was not the first device of the order.
enum class FirstMiss : std::uint8_t { kNone, kBusy, kUnhealthy };

struct FleetChoice {
  enum class Kind : std::uint8_t {
    kReserved,     ///< `reservation` holds a place on `device`
    kQueued,       ///< it waits for `device`
    kAllBusy,      ///< or kept from it by what they asked for; retry_after_ms
    kNoneHealthy,  ///< retry_after_ms
  };
  Kind kind = Kind::kNoneHealthy;
  std::size_t device = 0;
  Reservation reservation = {};
  QueueTicket ticket = {};
  /// Not kNone: the request goes elsewhere than its order says. It is for the log, and nothing that
  /// should be kept of the conversation.
  FirstMiss first_miss = FirstMiss::kNone;
  bool is_bypass = false;           ///< no device was healthy, and this one is tried all the same
  std::int64_t retry_after_ms = 0;  ///< 1000 to 60000
  FleetChanges changes = {};
};

struct FleetOptions {
  /// Where no device of an order is healthy, the default one (else the first) is tried all the
  /// same.
  bool fail_open = true;
  std::size_t waiting_max = 65536;  ///< of all devices
  std::int64_t wait_ms_max = 600'000;
};

/// What one device is at, for pages and metrics.
struct DeviceView {
  std::string name;
  DeviceState state = DeviceState::kHealthy;
  bool is_cooling = false;
  std::int64_t in_flight = 0;
  std::int64_t waiting = 0;
  std::int64_t failures_in_a_row = 0;
  double backlog_ms = 0;  ///< the predicted times of all that runs and waits there
};

/// Thread-safety: any number of callers.
class Fleet {
 public:
  /// A device with a `command` starts as kStarting, the others as kHealthy.
  Fleet(const RoutePolicy& policy, const FleetOptions& options);
  /// As close().
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// The first device of `order` that takes requests and has room; else the first healthy one whose
  /// queue has. Whether a device suits the request was decided before (device_order.h).
  FleetChoice choose_and_reserve(std::span<const std::size_t> order, FleetRequest request,
                                 std::int64_t now_ns);

  /// Devices whose probe is due; each is to be answered with probed(), and is not named before.
  std::vector<std::size_t> take_due_probes(std::int64_t now_ns);
  FleetChanges probed(std::size_t device, bool passed, std::int64_t now_ns);

  FleetChanges started(std::size_t device, std::int64_t now_ns);
  FleetChanges stopped(std::size_t device, std::int64_t now_ns);
  FleetChanges drain(std::size_t device, std::int64_t now_ns);
  /// `running`: the device answers.
  FleetChanges resume(std::size_t device, bool running, std::int64_t now_ns);

  /// Does what is due: ends waits and cool-downs, opens ejected devices. To be called a few times a
  /// second.
  FleetChanges tick(std::int64_t now_ns);
  /// Ends every wait with kClosed; nothing waits from then on.
  void close();

  std::vector<DeviceView> view(std::int64_t now_ns) const;

 private:
  std::shared_ptr<FleetState> state_;
};

}  // namespace layard::gateway
