#include "evaluation/bootstrap.h"

#include <algorithm>
#include <vector>

namespace layard::evaluation {
namespace {

constexpr std::uint64_t kSeed = 20261201;
constexpr std::size_t kLeftOut = 24;  // at each end: 2.5% of kResamples, the bounds being in

// Steele, Lea and Flood's splitmix64: one addition and a mix a number, the same on every machine.
class SplitMix {
 public:
  // In [0, n): the high half of a product, whose bias below 2^32 is beyond notice.
  std::size_t below(std::size_t n) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    return static_cast<std::size_t>(((z >> 32U) * static_cast<std::uint64_t>(n)) >> 32U);
  }

 private:
  std::uint64_t state_ = kSeed;
};

}  // namespace

Interval accuracy_interval(std::span<const LineCount> lines) {
  std::uint64_t answers = 0;
  for (const LineCount& line : lines) answers += line.all;
  if (answers == 0) return {};
  SplitMix random;
  std::vector<double> accuracies;
  accuracies.reserve(kResamples);
  for (std::size_t i = 0; i < kResamples; ++i) {
    std::uint64_t right = 0;
    std::uint64_t all = 0;
    for (std::size_t draw = 0; draw < lines.size(); ++draw) {
      const LineCount& line = lines[random.below(lines.size())];
      right += line.right;
      all += line.all;
    }
    // Only lines without an answer were drawn: this resample says nothing.
    if (all > 0) accuracies.push_back(static_cast<double>(right) / static_cast<double>(all));
  }
  if (accuracies.size() <= 2 * kLeftOut) return {};
  std::ranges::sort(accuracies);
  return {accuracies[kLeftOut], accuracies[accuracies.size() - 1 - kLeftOut]};
}

}  // namespace layard::evaluation
