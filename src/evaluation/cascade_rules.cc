#include "evaluation/cascade_rules.h"

#include <algorithm>

namespace layard::evaluation {

const CascadeThreshold* find_threshold(std::span<const CascadeThreshold> thresholds,
                                       std::string_view bucket) {
  for (const std::string_view name : {bucket, kDefaultBucket}) {
    const auto found = std::ranges::find(thresholds, name, &CascadeThreshold::bucket);
    if (found != thresholds.end()) return &*found;
  }
  return nullptr;
}

}  // namespace layard::evaluation
