// Thresholds of a cascade from labelled answers, and what a chain does with given thresholds.
#include <algorithm>
#include <map>

#include "base/checks.h"
#include "evaluation/cascade_rules.h"
#include "layard/cascade.h"

namespace layard {
namespace {

using evaluation::find_threshold;
using evaluation::is_confident;
using Thresholds = std::vector<CascadeThreshold>;

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The smallest confidence that keeps the risk, if there is one: threshold_for_error says 1 for
// none.
std::optional<double> smallest_confidence(std::span<const JudgedAnswer> answers, double risk) {
  const double threshold = threshold_for_error(answers, risk);
  std::size_t answered = 0;
  std::size_t wrong = 0;
  for (const JudgedAnswer& answer : answers) {
    if (answer.confidence < threshold) continue;
    ++answered;
    wrong += answer.right ? 0 : 1;
  }
  if (share(wrong + 1, answered + 1) <= risk) return threshold;
  return std::nullopt;
}

Thresholds fit_stage(std::span<const CascadeCase* const> cases, std::size_t stage, double risk) {
  std::vector<JudgedAnswer> all;
  std::map<std::string, std::vector<JudgedAnswer>> buckets;
  for (const CascadeCase* one : cases) {
    const CascadeOutcome& outcome = one->stages[stage];
    all.push_back({outcome.confidence, outcome.right});
    buckets[one->bucket].push_back(all.back());
  }
  Thresholds out;
  for (const auto& [bucket, answers] : buckets) {
    if (answers.size() < kCascadeBucketFloor) continue;
    out.push_back({bucket, smallest_confidence(answers, risk)});
  }
  out.push_back({std::string(evaluation::kDefaultBucket), smallest_confidence(all, risk)});
  return out;
}

bool answers_it(const CascadeCase& one, std::size_t stage, const Thresholds& thresholds) {
  const CascadeThreshold* rule = find_threshold(thresholds, one.bucket);
  return rule != nullptr && is_confident(rule->confidence, one.stages[stage].confidence);
}

}  // namespace

std::vector<Thresholds> fit_cascade_thresholds(std::span<const CascadeCase> cases, double risk) {
  LAYARD_CHECK(risk > 0 && risk < 1);
  const std::size_t stages = cases.empty() ? 0 : cases.front().stages.size();
  std::vector<Thresholds> out(stages);
  std::vector<const CascadeCase*> reached;
  for (const CascadeCase& one : cases) {
    LAYARD_CHECK(one.stages.size() == stages && stages >= 2);
    reached.push_back(&one);
  }
  for (std::size_t stage = 0; stage + 1 < stages; ++stage) {
    out[stage] = fit_stage(reached, stage, risk);
    std::erase_if(reached,
                  [&](const CascadeCase* one) { return answers_it(*one, stage, out[stage]); });
  }
  return out;
}

CascadeMeasure measure_cascade(std::span<const CascadeCase> cases,
                               std::span<const Thresholds> thresholds,
                               std::span<const double> stage_ms) {
  const std::size_t stages = stage_ms.size();
  LAYARD_CHECK(stages >= 1 && thresholds.size() == stages);
  CascadeMeasure out;
  out.questions = cases.size();
  out.answered.resize(stages);
  out.wrong.resize(stages);
  double ms = 0;
  for (const CascadeCase& one : cases) {
    LAYARD_CHECK(one.stages.size() == stages);
    std::size_t stage = 0;
    ms += stage_ms[0];
    while (stage + 1 < stages && !answers_it(one, stage, thresholds[stage]))
      ms += stage_ms[++stage];
    ++out.answered[stage];
    (one.stages[stage].right ? out.right : out.wrong[stage]) += 1;
  }
  out.accuracy = share(out.right, out.questions);
  out.ms_per_question = cases.empty() ? 0 : ms / static_cast<double>(cases.size());
  return out;
}

std::vector<CascadeMeasure> cascade_curve(std::span<const CascadeCase> cases,
                                          std::span<const double> stage_ms, std::size_t steps) {
  LAYARD_CHECK(steps >= 1 && steps <= 1000);
  std::vector<CascadeMeasure> out;
  for (std::size_t i = 0; i <= steps; ++i) {
    const double threshold = share(i, steps);
    std::vector<Thresholds> all(stage_ms.size());
    for (Thresholds& one : all) {
      one = {{std::string(evaluation::kDefaultBucket), threshold}};
    }
    out.push_back(measure_cascade(cases, all, stage_ms));
    out.back().threshold = threshold;
  }
  return out;
}

}  // namespace layard
