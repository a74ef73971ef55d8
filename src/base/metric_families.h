/// Metrics as they are at the moment, in Prometheus' text form.
/// Source: Prometheus' text format 0.0.4; the names are ours.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace layard::base {

/// Labels hold nothing that a client wrote. Thread-safety: one caller at a time.
class MetricFamilies {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;
  using Type = prometheus::MetricType;

  /// A family called `layard_NAME`; it is valid until the next call.
  prometheus::MetricFamily& add(const std::string& name, Type type, const std::string& help);
  /// A family with one value and no labels.
  void counter(const std::string& name, const std::string& help, std::uint64_t value);
  void gauge(const std::string& name, const std::string& help, double value);

  static void put(prometheus::MetricFamily& family, Labels labels, double value);
  /// `counts`: how many fell at or under each bound and over the one before, and then over all.
  static void put_times(prometheus::MetricFamily& family, Labels labels,
                        std::span<const double> bounds_s, std::span<const std::uint64_t> counts,
                        double sum_s);

  std::string text() const;

 private:
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace layard::base
