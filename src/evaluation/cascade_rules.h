/// Which threshold of a stage a question is held against.
/// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "layard/cascade.h"

namespace layard::evaluation {

inline constexpr std::string_view kDefaultBucket = "default";

/// The bucket's own, else `default`; null where there is neither.
const CascadeThreshold* find_threshold(std::span<const CascadeThreshold> thresholds,
                                       std::string_view bucket);

/// Whether a stage with that threshold gives an answer of that confidence.
inline bool is_confident(const std::optional<double>& threshold, double confidence) {
  return threshold.has_value() && confidence >= *threshold;
}

}  // namespace layard::evaluation
