#include "server/request_stats.h"

#include <algorithm>

namespace layard::server {

void RequestStats::add(Endpoint endpoint, int status, double duration_s) {
  const auto bound = std::ranges::lower_bound(kDurationBoundsS, duration_s);
  const std::lock_guard lock(mutex_);
  EndpointStats& stats = all_[static_cast<std::size_t>(endpoint)];
  ++stats.by_status[status];
  ++stats.duration[static_cast<std::size_t>(bound - kDurationBoundsS.begin())];
  stats.duration_s_sum += duration_s;
}

RequestStats::All RequestStats::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

}  // namespace layard::server
