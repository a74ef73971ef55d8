// The report as JSON.
#include <string>

#include "base/json.h"
#include "layard/evaluation.h"
#include "layard/version.h"

namespace layard {
namespace {

using base::JsonValue;

JsonValue integer(std::size_t value) {
  return JsonValue::integer(static_cast<std::int64_t>(value));
}

JsonValue bins_json(const std::vector<ReliabilityBin>& bins) {
  JsonValue out = JsonValue::array();
  for (const ReliabilityBin& bin : bins) {
    JsonValue one = JsonValue::object();
    one.set("low", JsonValue::real(bin.low));
    one.set("high", JsonValue::real(bin.high));
    one.set("count", integer(bin.count));
    one.set("confidence", JsonValue::real(bin.confidence));
    one.set("accuracy", JsonValue::real(bin.accuracy));
    out.push_back(std::move(one));
  }
  return out;
}

JsonValue group_json(const QuestionMetrics& group) {
  JsonValue out = JsonValue::object();
  out.set("questions", integer(group.questions));
  out.set("right", integer(group.right));
  out.set("accuracy", JsonValue::real(group.accuracy));
  JsonValue interval = JsonValue::array();
  interval.push_back(JsonValue::real(group.accuracy_low));
  interval.push_back(JsonValue::real(group.accuracy_high));
  out.set("accuracy_interval", std::move(interval));
  out.set("soft_accuracy", JsonValue::real(group.soft_accuracy));
  out.set("brier", JsonValue::real(group.brier));
  out.set("nll", JsonValue::real(group.nll));
  out.set("calibration_error", JsonValue::real(group.calibration_error));
  out.set("score_error",
          group.score_questions > 0 ? JsonValue::real(group.score_error) : JsonValue::null());
  JsonValue flips = JsonValue::object();
  flips.set("changed", integer(group.flipped));
  flips.set("all", integer(group.reversed));
  out.set("order_flips", std::move(flips));
  out.set("bins", bins_json(group.bins));
  return out;
}

JsonValue groups_json(const std::vector<QuestionMetrics>& groups) {
  JsonValue out = JsonValue::object();
  for (const QuestionMetrics& group : groups) out.set(group.name, group_json(group));
  return out;
}

JsonValue abstention_json(const std::vector<AbstentionPoint>& points) {
  JsonValue out = JsonValue::array();
  for (const AbstentionPoint& point : points) {
    JsonValue one = JsonValue::object();
    one.set("threshold", JsonValue::real(point.threshold));
    one.set("answered", integer(point.answered));
    one.set("wrong", integer(point.wrong));
    one.set("coverage", JsonValue::real(point.coverage));
    one.set("error", JsonValue::real(point.error));
    out.push_back(std::move(one));
  }
  return out;
}

JsonValue mistakes_json(const std::vector<Mistake>& mistakes) {
  JsonValue out = JsonValue::array();
  for (const Mistake& mistake : mistakes) {
    JsonValue one = JsonValue::object();
    one.set("line", integer(mistake.line));
    one.set("question", JsonValue::string(mistake.question));
    one.set("expected", JsonValue::string(mistake.expected));
    one.set("answered", JsonValue::string(mistake.answered));
    one.set("answer_confidence", JsonValue::real(mistake.confidence));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string evaluation_json(const Evaluation& evaluation) {
  JsonValue out = JsonValue::object();
  out.set("tool", JsonValue::string("layard evaluate"));
  out.set("layard", JsonValue::string(std::string(version())));
  out.set("model", JsonValue::string(evaluation.model));
  out.set("model_revision", JsonValue::string(evaluation.revision));
  out.set("weights_sha256", JsonValue::string(evaluation.weights_sha256));
  out.set("dtype", JsonValue::string(evaluation.dtype));
  out.set("calibration", evaluation.calibration.empty()
                             ? JsonValue::null()
                             : JsonValue::string(evaluation.calibration));
  out.set("lines", integer(evaluation.cases));
  out.set("truncated", integer(evaluation.truncated));
  out.set("all", group_json(evaluation.all));
  out.set("types", groups_json(evaluation.types));
  out.set("buckets", groups_json(evaluation.buckets));
  out.set("sources", groups_json(evaluation.sources));
  out.set("abstention", abstention_json(evaluation.abstention));
  out.set("mistakes", mistakes_json(evaluation.mistakes));
  out.set("ms_per_question", JsonValue::real(evaluation.ms_per_question));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard
