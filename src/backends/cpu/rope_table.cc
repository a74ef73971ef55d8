#include "backends/cpu/rope_table.h"

#include <algorithm>
#include <cmath>

namespace layard::backends::cpu {

void RopeTable::ensure(std::size_t positions) {
  const std::size_t have = this->positions();
  if (positions <= have) return;
  const std::size_t want = std::max({positions, 2 * have, std::size_t{64}});
  cosine_.resize(want * half_);
  sine_.resize(want * half_);
  for (std::size_t j = 0; j < half_; ++j) {
    const float exponent = static_cast<float>(2 * j) / static_cast<float>(2 * half_);
    const auto inverse = static_cast<float>(1.0 / std::pow(theta_, static_cast<double>(exponent)));
    for (std::size_t p = have; p < want; ++p) {
      const float angle = static_cast<float>(p) * inverse;
      cosine_[p * half_ + j] = std::cos(angle);
      sine_[p * half_ + j] = std::sin(angle);
    }
  }
}

}  // namespace layard::backends::cpu
