#include "gateway/restart_plan.h"

#include <algorithm>
#include <limits>

namespace layard::gateway {

std::int64_t RestartPlan::wait_after(std::int64_t life_ms) {
  if (life_ms >= rule_.good_life_ms) reset();
  if (failures_ < std::numeric_limits<int>::max()) ++failures_;
  wait_ms_ = wait_ms_ == 0                      ? rule_.first_wait_ms
             : wait_ms_ > rule_.wait_ms_max / 2 ? rule_.wait_ms_max
                                                : wait_ms_ * 2;
  return std::min(wait_ms_, rule_.wait_ms_max);
}

void RestartPlan::reset() {
  wait_ms_ = 0;
  failures_ = 0;
}

}  // namespace layard::gateway
