/// What the gateway counts, and the decisions it made last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/chat_request.h"
#include "gateway/sticky_table.h"

namespace layard::gateway {

inline constexpr std::size_t kApis = 6;
inline constexpr std::size_t kDecisionSources = 7;

/// `chat_completions`, `completions`, `responses`, `embeddings`, `messages`, `count_tokens`.
std::string_view api_name(Api api);

/// Upper bounds in seconds; a last one is infinite.
inline constexpr std::array<double, 16> kStatBoundsS = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120, 600};

/// A histogram of seconds.
struct StatTimes {
  std::array<std::uint64_t, kStatBoundsS.size() + 1> counts{};  // not cumulative
  double sum_s = 0;

  void add(double seconds);
  std::uint64_t count() const;
};

/// What one device did.
struct DeviceStats {
  std::uint64_t attempts = 0;
  std::uint64_t failures = 0;              ///< before the first byte
  std::uint64_t cut = 0;                   ///< after it
  std::map<int, std::uint64_t> by_status;  ///< of its replies; at most one entry a status of HTTP
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  StatTimes first_byte;  ///< from the request to the reply's first byte, s
  StatTimes total;
};

/// For the status page.
struct RecentDecision {
  std::int64_t time_ms = 0;  ///< since 1970
  std::string class_name;
  double confidence = 0;
  std::string device;
  DecisionSource source = DecisionSource::kDefault;
  double decision_ms = 0;
  int status = 0;
};

struct StatsSnapshot {
  std::array<std::map<int, std::uint64_t>, kApis> replies{};  ///< by status
  std::array<std::uint64_t, kDecisionSources> decisions{};
  std::map<std::string, std::uint64_t> classes;  ///< decided ones; names are the policy's
  std::map<std::string, DeviceStats> devices;    ///< names are the policy's
  StatTimes decision;                            ///< of those that asked the model
  StatTimes added;                               ///< from the request's last byte to its way out
  std::uint64_t decision_failures = 0;
  std::uint64_t overflows = 0;
  std::uint64_t retries = 0;
  std::uint64_t clients_gone = 0;
  std::uint64_t keepalives = 0;
  std::uint64_t in_flight = 0;        ///< at the moment
  std::deque<RecentDecision> recent;  ///< newest first
};

/// Bounds: kRecentMax decisions; names come from policies alone, so maps are as large as those.
/// Thread-safety: any number of callers.
class GatewayStats {
 public:
  static constexpr std::size_t kRecentMax = 50;

  /// Runs `change` on the counters.
  template <class Change>
  void update(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(now_);
  }
  void add_recent(RecentDecision decision);
  StatsSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;
  StatsSnapshot now_;
};

}  // namespace layard::gateway
