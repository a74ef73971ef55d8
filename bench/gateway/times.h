/// Percentiles of measured times, as JSON.
#pragma once

#include <string>
#include <vector>

namespace layard::bench {

/// The value below which `share` of the values lie (nearest rank); 0 without values.
double percentile(std::vector<double> values, double share);

/// `{"n": ..., "p50_ms": ..., "p90_ms": ..., "p99_ms": ..., "max_ms": ...}`.
std::string times_json(const std::vector<double>& values_ms);

/// Times of the same request by two ways, in rounds of direct, proxied, proxied, direct, so that a
/// drift of the machine meets both.
class PairedTimes {
 public:
  /// Whether the `index`th request goes through the gateway.
  static bool proxied(int index) { return index % 4 == 1 || index % 4 == 2; }
  void add(int index, double ms);
  /// Both, and what the gateway adds: differences of percentiles, and the median of the rounds'
  /// own differences, which a drift touches least.
  std::string json() const;

 private:
  std::vector<double> direct_ms_;
  std::vector<double> proxied_ms_;
  std::vector<double> added_ms_;
  double round_ms_ = 0;
};

}  // namespace layard::bench
