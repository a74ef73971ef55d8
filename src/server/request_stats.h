/// Counts and times of finished requests, for metrics.
/// Source: none; ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "server/routes.h"

namespace layard::server {

/// Upper bounds in seconds; a last one is infinite.
inline constexpr std::array<double, 13> kDurationBoundsS = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};

/// Requests of one endpoint.
struct EndpointStats {
  std::map<int, std::uint64_t> by_status;  // at most one entry a status of HTTP
  std::array<std::uint64_t, kDurationBoundsS.size() + 1> duration{};  // not cumulative
  double duration_s_sum = 0;
};

/// Thread-safety: any number of callers.
class RequestStats {
 public:
  using All = std::array<EndpointStats, kEndpoints>;

  void add(Endpoint endpoint, int status, double duration_s);
  All all() const;

 private:
  mutable std::mutex mutex_;
  All all_;
};

}  // namespace layard::server
