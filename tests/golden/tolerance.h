/// How near a float32 forward must come to upstream's recorded numbers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>

namespace layard::golden {

/// 1e-4 absolute plus 1e-4 relative.
inline bool near(double found, double wanted) {
  return std::fabs(found - wanted) <= 1e-4 + 1e-4 * std::fabs(wanted);
}

template <class Found, class Wanted>
void expect_near(const Found& found, const Wanted& wanted, const std::string& where) {
  ASSERT_EQ(found.size(), wanted.size()) << where;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(near(found[i], wanted[i]))
        << where << " [" << i << "]: " << found[i] << " for " << wanted[i];
  }
}

/// Softmax in double, as act probabilities are recorded.
inline std::vector<double> softmax(std::span<const float> logits) {
  double peak = logits[0];
  for (const float z : logits) peak = std::max(peak, static_cast<double>(z));
  std::vector<double> p;
  double total = 0;
  for (const float z : logits) total += p.emplace_back(std::exp(z - peak));
  for (double& value : p) value /= total;
  return p;
}

}  // namespace layard::golden
