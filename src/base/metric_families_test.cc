#include "base/metric_families.h"

#include <gtest/gtest.h>

#include <array>

namespace layard::base {
namespace {

TEST(MetricFamilies, TextForm) {
  MetricFamilies families;
  families.counter("requests_total", "Requests", 7);
  families.gauge("open", "Open ones", 2.5);
  families.put(families.add("by_name", MetricType::kGauge, "Named"), {{"name", "a\"b"}}, 1);
  EXPECT_EQ(families.text(),
            "# HELP layard_requests_total Requests\n"
            "# TYPE layard_requests_total counter\n"
            "layard_requests_total 7\n"
            "# HELP layard_open Open ones\n"
            "# TYPE layard_open gauge\n"
            "layard_open 2.5\n"
            "# HELP layard_by_name Named\n"
            "# TYPE layard_by_name gauge\n"
            "layard_by_name{name=\"a\\\"b\"} 1\n");
}

TEST(MetricFamilies, TimesAreCumulative) {
  MetricFamilies families;
  const std::array<double, 2> bounds = {0.5, 1};
  const std::array<std::uint64_t, 3> counts = {2, 0, 1};
  families.put_times(families.add("wait_seconds", MetricType::kHistogram, "Waits"), {}, bounds,
                     counts, 3.5);
  EXPECT_EQ(families.text(),
            "# HELP layard_wait_seconds Waits\n"
            "# TYPE layard_wait_seconds histogram\n"
            "layard_wait_seconds_count 3\n"
            "layard_wait_seconds_sum 3.5\n"
            "layard_wait_seconds_bucket{le=\"0.5\"} 2\n"
            "layard_wait_seconds_bucket{le=\"1\"} 2\n"
            "layard_wait_seconds_bucket{le=\"+Inf\"} 3\n");
}

}  // namespace
}  // namespace layard::base
