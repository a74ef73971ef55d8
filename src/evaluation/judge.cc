#include "evaluation/judge.h"

#include <algorithm>
#include <cmath>

namespace layard::evaluation {

std::vector<double> log_probabilities(std::span<const double> logits, double temperature) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp((logit - largest) / temperature);
  const double log_sum = std::log(sum);
  std::vector<double> out;
  out.reserve(logits.size());
  for (const double logit : logits) out.push_back((logit - largest) / temperature - log_sum);
  return out;
}

std::size_t expected_option(const Target& target) {
  return static_cast<std::size_t>(std::ranges::max_element(target) - target.begin());
}

Judgement judge(const AskedQuestion& asked, const Target& target) {
  Judgement out;
  const std::vector<double> log_p = log_probabilities(asked.logits, asked.temperature);
  double expected_level = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double p = std::exp(log_p[i]);
    out.soft_accuracy += target[i] * p;
    out.brier += (p - target[i]) * (p - target[i]);
    // What is impossible costs nothing, however improbable the model finds it.
    if (target[i] > 0) out.nll -= target[i] * log_p[i];
    expected_level += static_cast<double>(i) * target[i];
  }
  out.right = target[asked.picked] == target[expected_option(target)];
  if (asked.type == QuestionType::kScore) out.score_error = std::fabs(asked.score - expected_level);
  return out;
}

}  // namespace layard::evaluation
