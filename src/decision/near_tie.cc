#include "decision/near_tie.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "decision/answers.h"

namespace layard::decision {
namespace {

double lead(std::vector<float> p) {
  std::partial_sort(p.begin(), p.begin() + 2, p.end(), std::greater<>());
  return static_cast<double>(p[0]) - static_cast<double>(p[1]);
}

// How far the expected level is from the nearest middle between two levels.
double distance_to_middle(const std::vector<float>& p) {
  double expected = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    expected += static_cast<double>(i) * static_cast<double>(p[i]);
  }
  const double middles = static_cast<double>(p.size() - 2);  // the last one, at middles + 0.5
  const double nearest = std::clamp(std::floor(expected), 0.0, middles) + 0.5;
  return std::fabs(expected - nearest);
}

}  // namespace

Result<bool> near_tie(const Question& question, std::span<const float> logits,
                      const Calibration& calibration) {
  LAYARD_ASSIGN(const std::vector<float> p, option_probabilities(question, logits, calibration));
  if (p.size() < 2) return false;
  switch (question.type) {
    case QuestionType::kNoul:
      return std::fabs(static_cast<double>(p[1]) - 0.5) < kNearTieShift;
    case QuestionType::kScore:
      return distance_to_middle(p) < kNearTieShift * static_cast<double>(p.size() - 1);
    case QuestionType::kChoice:
      break;
  }
  return lead(p) < 2 * kNearTieShift;
}

}  // namespace layard::decision
