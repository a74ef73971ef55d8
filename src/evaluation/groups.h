/// Questions summed up: all of them, by type, by bucket, by source.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "evaluation/ask.h"
#include "evaluation/bootstrap.h"
#include "evaluation/judge.h"
#include "layard/evaluation.h"

namespace layard::evaluation {

/// The sums of one group.
/// Thread-safety: one caller at a time.
class MetricGroup {
 public:
  explicit MetricGroup(std::string name) { out_.name = std::move(name); }

  /// Questions of one line come one after another.
  void add(const AskedQuestion& asked, const Judgement& judgement);

  const std::string& name() const { return out_.name; }
  std::size_t questions() const { return out_.questions; }

  /// The means; all 0 of no question.
  QuestionMetrics finish() const;

 private:
  QuestionMetrics out_;
  std::vector<LineCount> lines_;
  std::size_t last_case_ = 0;
  std::vector<JudgedAnswer> answers_;
};

/// All groups of an evaluation, and its answers as a gate sees them.
struct Groups {
  QuestionMetrics all;
  std::vector<QuestionMetrics> types;
  std::vector<QuestionMetrics> buckets;
  std::vector<QuestionMetrics> sources;
  std::vector<JudgedAnswer> answers;
};

/// REQUIRES: `asked` is of these cases.
Groups group_questions(std::span<const EvaluationCase> cases, std::span<const AskedQuestion> asked,
                       std::span<const Judgement> judgements);

}  // namespace layard::evaluation
