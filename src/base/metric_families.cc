#include "base/metric_families.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>

namespace layard::base {
namespace {

using prometheus::ClientMetric;

prometheus::MetricType type_of(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

ClientMetric metric_with(const MetricFamilies::Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

}  // namespace

struct MetricFamilies::Impl {
  std::vector<prometheus::MetricFamily> families;
};

MetricFamilies::MetricFamilies() : impl_(std::make_unique<Impl>()) {}
MetricFamilies::~MetricFamilies() = default;

MetricFamilies::Family MetricFamilies::add(const std::string& name, MetricType type,
                                           const std::string& help) {
  impl_->families.push_back({"layard_" + name, help, type_of(type), {}});
  return impl_->families.size() - 1;
}

void MetricFamilies::counter(const std::string& name, const std::string& help,
                             std::uint64_t value) {
  put(add(name, MetricType::kCounter, help), {}, static_cast<double>(value));
}

void MetricFamilies::gauge(const std::string& name, const std::string& help, double value) {
  put(add(name, MetricType::kGauge, help), {}, value);
}

void MetricFamilies::put(Family family, const Labels& labels, double value) {
  prometheus::MetricFamily& to = impl_->families.at(family);
  ClientMetric metric = metric_with(labels);
  (to.type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  to.metric.push_back(std::move(metric));
}

void MetricFamilies::put_times(Family family, const Labels& labels,
                               std::span<const double> bounds_s,
                               std::span<const std::uint64_t> counts, double sum_s) {
  ClientMetric metric = metric_with(labels);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    metric.histogram.sample_count += counts[i];
    const double upper =
        i < bounds_s.size() ? bounds_s[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({metric.histogram.sample_count, upper});
  }
  metric.histogram.sample_sum = sum_s;
  impl_->families.at(family).metric.push_back(std::move(metric));
}

std::string MetricFamilies::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, impl_->families);
  return std::move(out).str();
}

}  // namespace layard::base
