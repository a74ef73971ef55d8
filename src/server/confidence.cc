#include "server/confidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/python_number.h"

namespace layard::server {
namespace {

using base::JsonValue;

std::vector<double> normalised(std::span<const double> probabilities) {
  std::vector<double> p(probabilities.begin(), probabilities.end());
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value = sum > 0 ? value / sum : 1.0 / static_cast<double>(p.size());
  return p;
}

// As Python shows a value of JSON; of lists and objects only what they are.
std::string shown(const JsonValue& value) {
  switch (value.kind()) {
    case base::JsonKind::kNull:
      return "None";
    case base::JsonKind::kBool:
      return value.as_bool() ? "True" : "False";
    case base::JsonKind::kInteger:
    case base::JsonKind::kReal:
      return shortened(value.text(), 40);
    case base::JsonKind::kString:
      return "'" + shortened(value.text(), 40) + "'";
    case base::JsonKind::kArray:
      return "a list";
    case base::JsonKind::kObject:
      break;
  }
  return value.size() == 0 ? "{}" : "a dict";
}

constexpr std::array<const char*, 4> kWidths = {"2", "3-5", "6-10", "11+"};

bool is_bucket(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return false;
  return question_type_from_string(name.substr(0, colon)).has_value() &&
         std::ranges::count(kWidths, name.substr(colon + 1)) > 0;
}

std::optional<double> read_share(const JsonValue& value) {
  const double share = value.as_double();
  if (!value.is_number() || !(share >= 0 && share <= 1)) return std::nullopt;
  return share;
}

Fault not_a_share(const JsonValue& value) {
  return {422, "min_confidence must be a float in [0.0, 1.0], got " + shown(value)};
}

struct Measured {
  std::size_t options = 2;
  double confidence = 0;
};

Measured measure(const Answer& answer) {
  if (const auto* choice = std::get_if<ChoiceAnswer>(&answer.value)) {
    return {choice->probabilities.size(), choice->answer_confidence};
  }
  if (const auto* score = std::get_if<ScoreAnswer>(&answer.value)) {
    return {score->probabilities.size(), score->answer_confidence};
  }
  return {2, std::get<NoulAnswer>(answer.value).answer_confidence};
}

}  // namespace

double jev_choice_confidence(std::span<const double> probabilities) {
  if (probabilities.size() <= 1) return 1;
  const std::vector<double> p = normalised(probabilities);
  const double chance = 1.0 / static_cast<double>(p.size());
  return base::python_round4((*std::ranges::max_element(p) - chance) / (1 - chance));
}

double jev_score_confidence(std::span<const double> probabilities) {
  if (probabilities.size() <= 1) return 1;
  const std::vector<double> p = normalised(probabilities);
  const auto count = static_cast<double>(p.size());
  const auto mode = static_cast<double>(std::ranges::max_element(p) - p.begin());
  double spread = 0;
  double uniform = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    spread += p[i] * std::abs(static_cast<double>(i) - mode);
    uniform += std::abs(static_cast<double>(i) - (count - 1) / 2);
  }
  return base::python_round4(std::max(0.0, 1 - spread / (uniform / count)));
}

std::optional<double> jev_confidence(const Answer& answer) {
  if (const auto* score = std::get_if<ScoreAnswer>(&answer.value)) {
    return jev_score_confidence(score->probabilities);
  }
  const auto* choice = std::get_if<ChoiceAnswer>(&answer.value);
  if (choice == nullptr) return std::nullopt;
  std::vector<double> probabilities;
  for (const LabelProbability& label : choice->probabilities) {
    probabilities.push_back(label.probability);
  }
  return jev_choice_confidence(probabilities);
}

OrFault<ConfidenceGate> read_gate(const JsonValue& value) {
  ConfidenceGate gate;
  if (!value.is_object()) {
    const auto share = read_share(value);
    if (!share.has_value()) return not_a_share(value);
    gate.other = *share;
    return gate;
  }
  if (value.size() == 0) {
    return Fault{422, "a min_confidence map must be a non-empty dict of bucket -> float, got {}"};
  }
  for (const auto& [name, least] : value.members()) {
    if (name != "default" && !is_bucket(name)) {
      return Fault{
          422, "min_confidence map keys must be a bucket like 'choice:3-5' or 'default', got '" +
                   shortened(name, 40) + "'"};
    }
    const auto share = read_share(least);
    if (!share.has_value()) return not_a_share(least);
    (name == "default" ? gate.other : gate.buckets[name]) = *share;
  }
  return gate;
}

std::string bucket_of(QuestionType type, std::size_t options) {
  const std::size_t width = options <= 2 ? 0 : options <= 5 ? 1 : options <= 10 ? 2 : 3;
  return std::string(to_string(type)) + ":" + kWidths[width];
}

GateOutcome apply_gate(const ConfidenceGate& gate, const Answer& answer) {
  const Measured measured = measure(answer);
  const auto found = gate.buckets.find(bucket_of(answer.type(), measured.options));
  const double threshold = found != gate.buckets.end() ? found->second : gate.other;
  return {measured.confidence >= threshold, threshold};
}

}  // namespace layard::server
