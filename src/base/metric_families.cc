#include "base/metric_families.h"

#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>

namespace layard::base {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

MetricFamily& MetricFamilies::add(const std::string& name, Type type, const std::string& help) {
  families_.push_back({"layard_" + name, help, type, {}});
  return families_.back();
}

void MetricFamilies::counter(const std::string& name, const std::string& help,
                             std::uint64_t value) {
  put(add(name, Type::Counter, help), {}, static_cast<double>(value));
}

void MetricFamilies::gauge(const std::string& name, const std::string& help, double value) {
  put(add(name, Type::Gauge, help), {}, value);
}

void MetricFamilies::put(MetricFamily& family, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (family.type == Type::Gauge ? metric.gauge.value : metric.counter.value) = value;
  family.metric.push_back(std::move(metric));
}

void MetricFamilies::put_times(MetricFamily& family, Labels labels,
                               std::span<const double> bounds_s,
                               std::span<const std::uint64_t> counts, double sum_s) {
  ClientMetric metric;
  metric.label = std::move(labels);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    metric.histogram.sample_count += counts[i];
    const double upper =
        i < bounds_s.size() ? bounds_s[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({metric.histogram.sample_count, upper});
  }
  metric.histogram.sample_sum = sum_s;
  family.metric.push_back(std::move(metric));
}

std::string MetricFamilies::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families_);
  return std::move(out).str();
}

}  // namespace layard::base
