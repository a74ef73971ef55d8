/// What all of a gateway's loops share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/event_log.h"
#include "base/side_thread.h"
#include "gateway/callers.h"
#include "gateway/class_source.h"
#include "gateway/conversation.h"
#include "gateway/decision_log.h"
#include "gateway/gateway_options.h"
#include "gateway/gateway_setup.h"
#include "gateway/gateway_stats.h"
#include "gateway/rate_limit.h"
#include "gateway/sticky_table.h"

namespace layard::gateway {

/// How the last reload ended.
struct ReloadState {
  std::int64_t time_ms = 0;  ///< since 1970; 0: there was none
  std::string error;         ///< empty: it was taken
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
};

/// Thread-safety: any number of callers.
class GatewayCore {
 public:
  /// `classes` (null: nothing is classified), `decisions` (null: no log) and `log` must outlive it.
  GatewayCore(const GatewayOptions& options_, GatewaySetupPtr setup, ClassSource* classes_,
              DecisionLog* decisions_, const base::EventLog& log_);

  const GatewayOptions& options;
  const base::EventLog& log;
  base::Clock& clock = base::real_clock();
  ClassSource* const classes;
  DecisionLog* const decisions;
  const Callers callers;
  const ConversationHasher hasher;
  RateLimiter limiter;
  StickyTable sticky;
  GatewayStats stats;
  base::SideThread side;     ///< reads large bodies
  base::SideThread reloads;  ///< these wait for children to end, which no body should

  /// The one that new requests are served with.
  GatewaySetupPtr setup() const;
  /// Puts another in its place; `error`: why it was refused and the old one stays.
  void replace_setup(GatewaySetupPtr setup);
  void refuse_setup(std::string error);
  ReloadState reload_state() const;

  /// `gw5f3a-17`: unlike any other of this process.
  std::string next_request_id();
  /// Names this gateway in `Via`, so that a request that comes back is known.
  std::string via() const { return "1.1 layard-" + id_prefix_.substr(0, id_prefix_.size() - 1); }
  std::array<std::uint8_t, 24> random_bytes();

 private:
  const std::string id_prefix_;
  std::atomic<std::uint64_t> last_id_{0};
  mutable std::mutex mutex_;
  GatewaySetupPtr setup_;  // guarded by mutex_
  ReloadState reload_;     // guarded by mutex_
};

/// Bytes of the operating system's random generator. Errors: kIo.
Status fill_random(std::uint8_t* bytes, std::size_t count);

}  // namespace layard::gateway
