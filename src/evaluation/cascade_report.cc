// A cascade's measurement for people and as JSON.
#include <algorithm>

#include "base/json.h"
#include "base/number_text.h"
#include "layard/cascade.h"

namespace layard {
namespace {

using base::fixed;
using base::JsonValue;
using base::percent;
using base::right_aligned;

std::string counted(std::size_t part, std::size_t all) {
  const double share = all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  return percent(share) + " (" + std::to_string(part) + "/" + std::to_string(all) + ")";
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::size_t name_width(const CascadeEvaluation& evaluation) {
  std::size_t width = 5;
  for (const auto& stage : evaluation.stages) width = std::max(width, stage.model.size());
  return width + 2;
}

std::string stage_lines(const CascadeEvaluation& evaluation) {
  const std::size_t width = name_width(evaluation);
  std::string out = padded("stage", width) + padded("alone", 20) + padded("answered", 20) +
                    padded("wrong of those", 20) + "ms per question\n";
  for (std::size_t s = 0; s < evaluation.stages.size(); ++s) {
    const auto& alone = evaluation.stages[s];
    const CascadeMeasure& fitted = evaluation.fitted;
    out += padded(alone.model, width) + padded(counted(alone.right, fitted.questions), 20) +
           padded(counted(fitted.answered[s], fitted.questions), 20) +
           padded(counted(fitted.wrong[s], fitted.answered[s]), 20) +
           fixed(alone.ms_per_question, 2) + "\n";
  }
  return out;
}

std::string threshold_lines(const CascadePlan& plan) {
  std::string out;
  for (std::size_t s = 0; s + 1 < plan.chain.size(); ++s) {
    out += plan.chain[s].model + " answers from:";
    for (const CascadeThreshold& one : plan.chain[s].thresholds) {
      out += "  " + one.bucket + " " + (one.confidence ? fixed(*one.confidence, 4) : "never");
    }
    out += "\n";
  }
  return out;
}

std::string curve_lines(const CascadeEvaluation& evaluation) {
  std::string out = "one threshold for all: accuracy, ms per question, answered by each stage\n";
  for (const CascadeMeasure& point : evaluation.curve) {
    out += fixed(point.threshold.value_or(0), 2) + right_aligned(percent(point.accuracy), 9) +
           right_aligned(fixed(point.ms_per_question, 2), 10);
    for (const std::size_t answered : point.answered) {
      out += right_aligned(std::to_string(answered), 9);
    }
    out += "\n";
  }
  return out;
}

JsonValue count(std::size_t value) { return JsonValue::integer(static_cast<std::int64_t>(value)); }

JsonValue counts(const std::vector<std::size_t>& values) {
  JsonValue out = JsonValue::array();
  for (const std::size_t value : values) out.push_back(count(value));
  return out;
}

JsonValue measure_json(const CascadeMeasure& measure) {
  JsonValue out = JsonValue::object();
  out.set("threshold",
          measure.threshold.has_value() ? JsonValue::real(*measure.threshold) : JsonValue::null());
  out.set("questions", count(measure.questions));
  out.set("right", count(measure.right));
  out.set("accuracy", JsonValue::real(measure.accuracy));
  out.set("answered", counts(measure.answered));
  out.set("wrong", counts(measure.wrong));
  out.set("ms_per_question", JsonValue::real(measure.ms_per_question));
  return out;
}

}  // namespace

std::string print_cascade_evaluation(const CascadeEvaluation& evaluation) {
  const CascadeMeasure& fitted = evaluation.fitted;
  std::string out = "accuracy " + counted(fitted.right, fitted.questions) + ", " +
                    fixed(fitted.ms_per_question, 2) + " ms per question\n";
  out += "fitted on " + std::to_string(evaluation.fit_questions) + " questions of " +
         std::to_string(evaluation.fit_lines) + " lines, measured on " +
         std::to_string(fitted.questions) + " of " + std::to_string(evaluation.lines) +
         " others; split by seed " + std::to_string(evaluation.plan.fitted_on.seed) + ", risk " +
         fixed(evaluation.plan.risk, 3) + "\n";
  out += stage_lines(evaluation) + threshold_lines(evaluation.plan) + curve_lines(evaluation);
  return out;
}

std::string cascade_evaluation_json(const CascadeEvaluation& evaluation) {
  JsonValue out = JsonValue::object();
  auto plan = base::parse_json(print_cascade_plan(evaluation.plan), {});
  out.set("plan", plan.ok() ? *std::move(plan) : JsonValue::null());
  out.set("fit_lines", count(evaluation.fit_lines));
  out.set("fit_questions", count(evaluation.fit_questions));
  out.set("lines", count(evaluation.lines));
  JsonValue stages = JsonValue::array();
  for (const auto& stage : evaluation.stages) {
    JsonValue one = JsonValue::object();
    one.set("model", JsonValue::string(stage.model));
    one.set("right", count(stage.right));
    one.set("accuracy", JsonValue::real(stage.accuracy));
    one.set("ms_per_question", JsonValue::real(stage.ms_per_question));
    stages.push_back(std::move(one));
  }
  out.set("stages", std::move(stages));
  out.set("fitted", measure_json(evaluation.fitted));
  JsonValue curve = JsonValue::array();
  for (const CascadeMeasure& point : evaluation.curve) curve.push_back(measure_json(point));
  out.set("curve", std::move(curve));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard
