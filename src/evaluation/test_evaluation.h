/// An evaluation with numbers that are easy to find again, for tests of reports.
#pragma once

#include "layard/evaluation.h"

namespace layard::evaluation {

/// 4,321 of 5,250 right; a source and a text that are markup.
inline Evaluation sample_evaluation() {
  const auto group = [](const std::string& name, std::size_t right, std::size_t questions) {
    QuestionMetrics out;
    out.name = name;
    out.questions = questions;
    out.right = right;
    out.accuracy = static_cast<double>(right) / static_cast<double>(questions);
    out.accuracy_low = out.accuracy - 0.01;
    out.accuracy_high = out.accuracy + 0.01;
    out.soft_accuracy = 0.751;
    out.brier = 0.25;
    out.nll = 0.5;
    out.calibration_error = 0.043;
    out.reversed = 200;
    out.flipped = 9;
    const std::vector<JudgedAnswer> answers = {{0.5, true}, {0.9, true}, {0.9, false}};
    out.bins = reliability_bins(answers, kReliabilityBins);
    return out;
  };
  Evaluation out;
  out.model = "starter";
  out.revision = "sha256:0123456789ab";
  out.weights_sha256 = std::string(64, '0');
  out.dtype = "float32";
  out.cases = 3000;
  out.truncated = 2;
  out.all = group("all", 4321, 5250);
  out.all.score_questions = 10;
  out.all.score_error = 0.25;
  out.types = {group("choice", 2000, 2500), group("noul", 2321, 2750)};
  out.types[1].reversed = out.types[1].flipped = 0;
  out.buckets = {group("choice:3-5", 2000, 2500), group("noul:2", 2321, 2750)};
  out.sources = {group("<b>mail & \"more\"</b>", 4321, 5250)};
  out.abstention = abstention_curve(std::vector<JudgedAnswer>{{0.5, true}, {0.9, false}}, 50);
  out.mistakes = {{17, "is<it>", "a", "b", 0.9876, "<script>alert('x')</script>"}};
  out.ms_per_question = 12.345;
  return out;
}

}  // namespace layard::evaluation
