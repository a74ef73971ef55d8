/// Metrics as they are at the moment, in Prometheus' text form.
/// Source: Prometheus' text format 0.0.4; the names are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace layard::base {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

/// Labels hold nothing that a client wrote. Thread-safety: one caller at a time.
class MetricFamilies {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  /// Names a family that was added.
  using Family = std::size_t;

  MetricFamilies();
  ~MetricFamilies();
  MetricFamilies(const MetricFamilies&) = delete;
  MetricFamilies& operator=(const MetricFamilies&) = delete;

  /// A family called `layard_NAME`.
  Family add(const std::string& name, MetricType type, const std::string& help);
  /// A family with one value and no labels.
  void counter(const std::string& name, const std::string& help, std::uint64_t value);
  void gauge(const std::string& name, const std::string& help, double value);

  void put(Family family, const Labels& labels, double value);
  /// Of a histogram. `counts`: how many fell at or under each bound and over the one before, and
  /// then over all.
  void put_times(Family family, const Labels& labels, std::span<const double> bounds_s,
                 std::span<const std::uint64_t> counts, double sum_s);

  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace layard::base
