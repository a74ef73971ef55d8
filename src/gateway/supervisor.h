/// Keeps the gateway's backends running: child processes that are started, watched, started again
/// when they end, and stopped.
///
/// Invariants: a child that ends or cannot be started is started again only after the wait of its
/// RestartPlan, so nothing spins; nothing is started twice at a time; after stop_all() nothing runs
/// and nothing is started; a child's output and variables are in no message.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gateway/child_process.h"
#include "gateway/child_spec.h"
#include "gateway/output_ring.h"
#include "gateway/owned_fd.h"
#include "gateway/restart_plan.h"
#include "layard/error.h"

namespace layard::gateway {

/// Devices of one supervisor at most.
inline constexpr std::size_t kSupervisedMax = 256;

enum class ChildState : std::uint8_t {
  kStarting,    ///< it runs, or is about to; nobody has said yet that it is ready
  kRunning,     ///< it is ready
  kStopping,    ///< it was asked to end and has not yet
  kBackingOff,  ///< it ended, or could not be started, and will be started again
  kStopped,     ///< it was asked to end, and did
  kFailed,      ///< given up after RestartRule::failures_max ends in a row
};

/// `starting`, `running`, `stopping`, `backing-off`, `stopped`, `failed`.
std::string_view child_state_name(ChildState state);

/// A backend to run.
struct SupervisedChild {
  std::string device;         ///< its name, not empty, at most 256 bytes
  ChildSpec spec;             ///< `{port}` in its arguments is replaced
  std::uint16_t port = 0;     ///< 0: it has none
  std::int64_t ready_ms = 0;  ///< not ready by then, it is started anew; 0: no limit
};

struct ChildStatus {
  ChildState state = ChildState::kStarting;
  pid_t pid = -1;                   ///< -1: no process
  std::uint64_t starts = 0;         ///< processes so far
  int failures = 0;                 ///< ends in a row without a good life (RestartPlan)
  std::int64_t wait_ms = 0;         ///< of kBackingOff: from the end to the next start
  std::string why = {};             ///< what led to the state; for people; empty where nothing did
  std::optional<Error> error = {};  ///< of the last start, if it failed
};

/// One change of a device's state.
struct ChildChange {
  std::string device;
  ChildState from = ChildState::kStarting;  ///< equals status.state at the first start
  ChildStatus status;
};

struct SupervisorOptions {
  RestartRule restart = {};
  std::size_t output_bytes = kOutputBytes;  ///< kept of each child
  std::string guard_program = kOwnProgram;
  /// Called on the supervisor's thread, one at a time, without a lock held; it must return soon,
  /// and may call everything but stop_all() and the destructor. May be empty.
  std::function<void(const ChildChange&)> on_change = {};
};

/// Thread-safety: any number of callers. Calls return at once, except stop_all(). The children are
/// handled by a thread of its own; a start holds up the others kChildStartMs at most.
class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  /// Kills what still runs; stop_all() before it is kinder.
  ~Supervisor();

  /// Begins to run `child`. Whether its program can be started shows in the status. Errors:
  /// kInvalidRequest: those of check_child_spec and with_port, a name that is empty or too long or
  /// of a device that is not kStopped or kFailed, too many devices; kCancelled after stop_all().
  Status start(SupervisedChild child);
  /// Stops the child, and starts it again after its plan's wait; `why` is for people. A child that
  /// waits to be started keeps waiting; one that is kStopped or kFailed is started at once.
  /// Errors: kInvalidRequest for a device that was never started; kCancelled after stop_all().
  Status restart(std::string_view device, std::string why);
  /// The child answers: kStarting becomes kRunning. `pid`: of which process that was found; when
  /// it is another one by now, nothing happens. Errors: as restart().
  Status mark_ready(std::string_view device, pid_t pid);
  /// Ends the child for good: kStopping, then kStopped; at once where no process runs. Errors:
  /// kInvalidRequest for a device that was never started.
  Status stop(std::string_view device);

  /// Asks all children to end and waits until they have. After `wait_ms` the rest is killed and
  /// waited for some seconds more. Returns whether nothing had to be killed here. Called again, it
  /// only waits.
  bool stop_all(std::int64_t wait_ms);

  std::optional<ChildStatus> status(std::string_view device) const;
  /// Of every device, by name.
  std::map<std::string, ChildStatus, std::less<>> statuses() const;
  /// The end of what the device's processes wrote (OutputRing::text()); empty for unknown ones.
  std::string output(std::string_view device) const;

 private:
  enum class Order : std::uint8_t { kNone, kStop, kRestart };
  struct Device;
  using Devices = std::map<std::string, std::shared_ptr<Device>, std::less<>>;

  Result<Device*> find(std::string_view device);  // REQUIRES: mutex_ is held
  Status make_room(const std::string& device);    // REQUIRES: mutex_ is held
  void wake() const;
  // The rest is called on the thread.
  void run();
  bool tick();
  void tick_device(Device& device, bool is_ending, bool is_killing);
  void obey(Device& device, bool is_ending);
  void obey_stop(Device& device);
  void obey_restart(Device& device, std::string why);
  void check_times(Device& device);
  void launch(Device& device);
  void take_end(Device& device);
  void back_off(Device& device, std::int64_t life_ms, const std::string& why);
  void change(Device& device, ChildState state, std::string why);
  void wait_for_news(bool is_closing) const;

  const SupervisorOptions options_;
  OwnedFd wake_fd_;
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  Devices devices_;                            // guarded by mutex_
  bool is_ending_ = false;                     // guarded by mutex_; all are to stop
  bool is_killing_ = false;                    // guarded by mutex_; at once
  bool is_closing_ = false;                    // guarded by mutex_; the thread is to end
  bool is_settled_ = false;                    // guarded by mutex_; all did stop
  std::vector<std::shared_ptr<Device>> seen_;  // of the thread: the devices of this round
  std::thread thread_;                         // last: it uses what is above
};

}  // namespace layard::gateway
