#include "evaluation/groups.h"

#include <algorithm>
#include <utility>

#include "decision/calibration.h"

namespace layard::evaluation {
namespace {

constexpr const char* kFurtherSources = "(further sources)";

// One group of that name, a new one at the end where there is none.
MetricGroup& group_named(std::vector<MetricGroup>& groups, const std::string& name) {
  const auto found = std::ranges::find(groups, name, &MetricGroup::name);
  return found != groups.end() ? *found : groups.emplace_back(name);
}

std::vector<MetricGroup> empty_types() {
  std::vector<MetricGroup> out;
  for (const QuestionType type :
       {QuestionType::kChoice, QuestionType::kScore, QuestionType::kNoul}) {
    out.emplace_back(std::string(to_string(type)));
  }
  return out;
}

// In the order in which they are shown.
std::vector<MetricGroup> empty_buckets() {
  std::vector<MetricGroup> out;
  for (const QuestionType type : {QuestionType::kChoice, QuestionType::kScore}) {
    for (const std::size_t options : {2U, 5U, 10U, 11U}) {
      out.emplace_back(decision::temperature_bucket(type, options));
    }
  }
  out.emplace_back(decision::temperature_bucket(QuestionType::kNoul, 2));
  return out;
}

std::vector<QuestionMetrics> finish(const std::vector<MetricGroup>& groups) {
  std::vector<QuestionMetrics> out;
  for (const MetricGroup& group : groups) {
    if (group.questions() > 0) out.push_back(group.finish());
  }
  return out;
}

}  // namespace

void MetricGroup::add(const AskedQuestion& asked, const Judgement& judgement) {
  if (lines_.empty() || last_case_ != asked.at_case) lines_.emplace_back();
  last_case_ = asked.at_case;
  ++lines_.back().all;
  lines_.back().right += judgement.right ? 1 : 0;
  answers_.push_back({asked.confidence, judgement.right});
  ++out_.questions;
  out_.right += judgement.right ? 1 : 0;
  out_.soft_accuracy += judgement.soft_accuracy;
  out_.brier += judgement.brier;
  out_.nll += judgement.nll;
  if (asked.type == QuestionType::kScore) {
    ++out_.score_questions;
    out_.score_error += judgement.score_error;
  }
  out_.reversed += asked.shown_reversed ? 1 : 0;
  out_.flipped += asked.flipped ? 1 : 0;
}

QuestionMetrics MetricGroup::finish() const {
  QuestionMetrics out = out_;
  out.bins = reliability_bins(answers_, kReliabilityBins);
  out.calibration_error = layard::calibration_error(out.bins);
  if (out.questions == 0) return out;
  const auto count = static_cast<double>(out.questions);
  out.accuracy = static_cast<double>(out.right) / count;
  const Interval interval = accuracy_interval(lines_);
  out.accuracy_low = interval.low;
  out.accuracy_high = interval.high;
  out.soft_accuracy /= count;
  out.brier /= count;
  out.nll /= count;
  if (out.score_questions > 0) out.score_error /= static_cast<double>(out.score_questions);
  return out;
}

Groups group_questions(std::span<const EvaluationCase> cases, std::span<const AskedQuestion> asked,
                       std::span<const Judgement> judgements) {
  MetricGroup all("all");
  std::vector<MetricGroup> types = empty_types();
  std::vector<MetricGroup> buckets = empty_buckets();
  std::vector<MetricGroup> sources;
  Groups out;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const AskedQuestion& question = asked[i];
    const std::string& source = cases[question.at_case].source;
    all.add(question, judgements[i]);
    types[static_cast<std::size_t>(question.type)].add(question, judgements[i]);
    group_named(buckets, decision::temperature_bucket(question.type, question.logits.size()))
        .add(question, judgements[i]);
    out.answers.push_back({question.confidence, judgements[i].right});
    if (source.empty()) continue;
    const bool known = std::ranges::find(sources, source, &MetricGroup::name) != sources.end();
    const bool room = sources.size() < kSourcesMax;
    group_named(sources, known || room ? source : kFurtherSources).add(question, judgements[i]);
  }
  out.all = all.finish();
  out.types = finish(types);
  out.buckets = finish(buckets);
  out.sources = finish(sources);
  return out;
}

}  // namespace layard::evaluation
