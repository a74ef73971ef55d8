/// How long work takes on one device, learned from batches: time per unit of cost, for each key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "scheduler/scheduler.h"

namespace layard::scheduler {

/// Exponentially weighted: sample number n has weight 1 / (n + 1) but at least kWeightMin, so that
/// the start value counts as one sample. A sample counts as at most kSampleFactor times, and at
/// least a kSampleFactor-th of, the value it moves: one batch that also loaded a file or was
/// swapped out does not have everything refused after it.
/// Thread-safety: none; its owner locks.
class ServiceEstimate {
 public:
  static constexpr double kWeightMin = 0.1;
  static constexpr double kSampleFactor = 8;
  /// Longest time of one job, so that sums over a queue cannot overflow.
  static constexpr std::int64_t kJobNsMax = 1'000'000'000'000;

  /// REQUIRES: cost_ms_start finite and above 0; keys_max at least 1.
  ServiceEstimate(double cost_ms_start, std::size_t keys_max)
      : start_ns_(cost_ms_start * 1e6), keys_max_(keys_max) {}

  /// Of one job; 0..kJobNsMax.
  std::int64_t job_ns(BatchKey key, std::int64_t cost) const;

  /// A batch of `cost` (at least 1) took `duration_ns`.
  void learn(BatchKey key, std::int64_t cost, std::int64_t duration_ns);

  std::size_t keys() const { return keys_.size(); }

 private:
  struct Learned {
    double cost_ns = 0;
    std::uint64_t samples = 0;
    std::uint64_t last_learned = 0;
  };
  Learned& entry(BatchKey key);

  double start_ns_;
  std::size_t keys_max_;
  std::uint64_t learned_ = 0;  // calls of learn()
  std::unordered_map<BatchKey, Learned> keys_;
};

/// `duration_ms` as nanoseconds within 0..kJobNsMax.
std::int64_t bounded_job_ns(double duration_ms);

}  // namespace layard::scheduler
