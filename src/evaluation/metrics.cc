// Calibration error, abstention curve and threshold: what confidences are worth.
#include <algorithm>
#include <cmath>

#include "layard/evaluation.h"

namespace layard {
namespace {

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The bin of (low, high] that `confidence` is in. The edges are the doubles i / bins: an answer is
// compared with exactly what its bin shows.
std::size_t bin_of(double confidence, std::size_t bins) {
  const auto count = static_cast<double>(bins);
  const double scaled = std::clamp(std::ceil(confidence * count), 1.0, count);
  auto bin = static_cast<std::size_t>(scaled) - 1;
  while (bin > 0 && confidence <= static_cast<double>(bin) / count) --bin;
  while (bin + 1 < bins && confidence > static_cast<double>(bin + 1) / count) ++bin;
  return bin;
}

}  // namespace

std::vector<ReliabilityBin> reliability_bins(std::span<const JudgedAnswer> answers,
                                             std::size_t bins) {
  std::vector<ReliabilityBin> out(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    out[i].low = share(i, bins);
    out[i].high = share(i + 1, bins);
  }
  for (const JudgedAnswer& answer : answers) {
    ReliabilityBin& bin = out[bin_of(answer.confidence, bins)];
    ++bin.count;
    bin.confidence += answer.confidence;
    bin.accuracy += answer.right ? 1 : 0;
  }
  for (ReliabilityBin& bin : out) {
    if (bin.count == 0) continue;
    bin.confidence /= static_cast<double>(bin.count);
    bin.accuracy /= static_cast<double>(bin.count);
  }
  return out;
}

double calibration_error(std::span<const ReliabilityBin> bins) {
  std::size_t count = 0;
  double error = 0;
  for (const ReliabilityBin& bin : bins) {
    count += bin.count;
    error += static_cast<double>(bin.count) * std::fabs(bin.accuracy - bin.confidence);
  }
  return count == 0 ? 0 : error / static_cast<double>(count);
}

std::vector<AbstentionPoint> abstention_curve(std::span<const JudgedAnswer> answers,
                                              std::size_t steps) {
  std::vector<AbstentionPoint> out(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i) {
    AbstentionPoint& point = out[i];
    point.threshold = share(i, steps);
    for (const JudgedAnswer& answer : answers) {
      if (answer.confidence < point.threshold) continue;
      ++point.answered;
      point.wrong += answer.right ? 0 : 1;
    }
    point.coverage = share(point.answered, answers.size());
    point.error = share(point.wrong, point.answered);
  }
  return out;
}

double threshold_for_error(std::span<const JudgedAnswer> answers, double target_error) {
  std::vector<JudgedAnswer> sorted(answers.begin(), answers.end());
  std::ranges::sort(sorted, std::greater(), &JudgedAnswer::confidence);
  double threshold = 1;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    wrong += sorted[i].right ? 0 : 1;
    // Answers of one confidence are accepted together.
    if (i + 1 < sorted.size() && sorted[i + 1].confidence == sorted[i].confidence) continue;
    if (share(wrong + 1, i + 2) <= target_error) threshold = sorted[i].confidence;
  }
  return threshold;
}

}  // namespace layard
