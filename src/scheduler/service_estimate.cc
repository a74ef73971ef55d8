#include "scheduler/service_estimate.h"

#include <algorithm>
#include <cmath>

#include "base/checks.h"

namespace layard::scheduler {
namespace {

// A clock that stands still must not make the estimate 0, from which no factor leads away.
constexpr double kCostNsMin = 1e-3;

std::int64_t bounded_ns(double ns) {
  constexpr auto kMax = static_cast<double>(ServiceEstimate::kJobNsMax);
  return std::llround(std::clamp(ns, 0.0, kMax));
}

}  // namespace

std::int64_t bounded_job_ns(double duration_ms) { return bounded_ns(duration_ms * 1e6); }

std::int64_t ServiceEstimate::job_ns(BatchKey key, std::int64_t cost) const {
  const auto found = keys_.find(key);
  const double cost_ns = found == keys_.end() ? start_ns_ : found->second.cost_ns;
  return bounded_ns(cost_ns * static_cast<double>(cost));
}

void ServiceEstimate::learn(BatchKey key, std::int64_t cost, std::int64_t duration_ns) {
  LAYARD_CHECK(cost >= 1);
  LAYARD_CHECK(duration_ns >= 0);
  Learned& learned = entry(key);
  learned.last_learned = ++learned_;
  ++learned.samples;
  const double sample =
      std::clamp(static_cast<double>(duration_ns) / static_cast<double>(cost),
                 learned.cost_ns / kSampleFactor, learned.cost_ns * kSampleFactor);
  const double weight = std::max(kWeightMin, 1.0 / static_cast<double>(learned.samples + 1));
  learned.cost_ns = std::max(kCostNsMin, learned.cost_ns + weight * (sample - learned.cost_ns));
}

ServiceEstimate::Learned& ServiceEstimate::entry(BatchKey key) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return found->second;
  if (keys_.size() >= keys_max_) {
    keys_.erase(std::min_element(keys_.begin(), keys_.end(), [](const auto& a, const auto& b) {
      return a.second.last_learned < b.second.last_learned;
    }));
  }
  return keys_.emplace(key, Learned{start_ns_, 0, 0}).first->second;
}

}  // namespace layard::scheduler
