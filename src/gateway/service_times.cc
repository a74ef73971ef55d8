#include "gateway/service_times.h"

#include <algorithm>
#include <cmath>

#include "base/checks.h"

namespace layard::gateway {
namespace {

constexpr double kNewShare = 0.2;
// A week: what a broken clock says does not become a prediction.
constexpr std::int64_t kTimeUsMax = 604'800'000'000;

}  // namespace

void ServiceTimes::Mean::add(std::int64_t new_us) {
  const double time = static_cast<double>(std::clamp<std::int64_t>(new_us, 0, kTimeUsMax));
  time_us = is_known ? time_us + kNewShare * (time - time_us) : time;
  is_known = true;
}

void ServiceTimes::add(std::size_t class_index, std::int64_t time_us) {
  LAYARD_CHECK(class_index < of_class_.size());
  of_class_[class_index].add(time_us);
  of_all_.add(time_us);
}

std::int64_t ServiceTimes::predict_us(std::size_t class_index) const {
  LAYARD_CHECK(class_index < of_class_.size());
  const Mean& mean = of_class_[class_index].is_known ? of_class_[class_index] : of_all_;
  return std::llround(mean.time_us);
}

}  // namespace layard::gateway
