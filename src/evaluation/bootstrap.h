/// How far an accuracy could be off because the file has these lines and not others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace layard::evaluation {

/// Right answers and answers of one line.
struct LineCount {
  std::uint32_t right = 0;
  std::uint32_t all = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

/// Resamples of the lines.
inline constexpr std::size_t kResamples = 1000;

/// The 95% interval of the accuracy: lines are drawn with replacement as often as there are lines,
/// kResamples times, and the interval leaves out the 24 lowest and the 24 highest accuracies. Whole
/// lines are drawn because the questions of one text are right or wrong together. The generator
/// (splitmix64 from a fixed seed) gives the same interval everywhere. {0, 0} of no answers.
Interval accuracy_interval(std::span<const LineCount> lines);

}  // namespace layard::evaluation
