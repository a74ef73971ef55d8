#include "gateway/gateway_stats.h"

#include <algorithm>
#include <numeric>

namespace layard::gateway {

std::string_view api_name(Api api) {
  constexpr std::array<std::string_view, kApis> kNames = {
      "chat_completions", "completions", "responses", "embeddings", "messages", "count_tokens"};
  return kNames[static_cast<std::size_t>(api)];
}

void StatTimes::add(double seconds) {
  const auto bound = std::ranges::lower_bound(kStatBoundsS, seconds);
  ++counts[static_cast<std::size_t>(bound - kStatBoundsS.begin())];
  sum_s += seconds;
}

std::uint64_t StatTimes::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void GatewayStats::add_recent(RecentDecision decision) {
  const std::lock_guard lock(mutex_);
  now_.recent.push_front(std::move(decision));
  if (now_.recent.size() > kRecentMax) now_.recent.pop_back();
}

StatsSnapshot GatewayStats::snapshot() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace layard::gateway
