#include "evaluation/groups.h"

#include <gtest/gtest.h>

#include <cmath>

namespace layard::evaluation {
namespace {

AskedQuestion asked(std::size_t at_case, QuestionType type, std::size_t options,
                    double confidence) {
  AskedQuestion out;
  out.at_case = at_case;
  out.type = type;
  out.logits.assign(options, 0.0);
  out.confidence = confidence;
  return out;
}

Judgement judged(bool right, double score_error) { return {right, 0.5, 0.25, 1, score_error}; }

TEST(Groups, CountsByTypeBucketAndSource) {
  std::vector<EvaluationCase> cases(3);
  cases[0].source = "web";
  cases[2].source = "mail";
  std::vector<AskedQuestion> questions = {
      asked(0, QuestionType::kNoul, 2, 0.9), asked(0, QuestionType::kScore, 3, 0.5),
      asked(1, QuestionType::kChoice, 12, 0.5), asked(2, QuestionType::kChoice, 3, 0.5)};
  questions[2].shown_reversed = questions[3].shown_reversed = true;
  questions[3].flipped = true;
  const std::vector<Judgement> judgements = {judged(true, 0), judged(false, 0.5), judged(true, 0),
                                             judged(false, 0)};
  const Groups found = group_questions(cases, questions, judgements);
  EXPECT_EQ(found.all.questions, 4U);
  EXPECT_EQ(found.all.right, 2U);
  EXPECT_DOUBLE_EQ(found.all.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(found.all.soft_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(found.all.brier, 0.25);
  EXPECT_DOUBLE_EQ(found.all.nll, 1);
  EXPECT_DOUBLE_EQ(found.all.score_error, 0.5) << "of one score question, not of four";
  EXPECT_EQ(found.all.reversed, 2U);
  EXPECT_EQ(found.all.flipped, 1U);
  // |1 - 0.9| of one and |1/3 - 0.5| of three.
  EXPECT_NEAR(found.all.calibration_error, (0.1 + 3 * (0.5 - 1.0 / 3)) / 4, 1e-12);
  ASSERT_EQ(found.types.size(), 3U);
  EXPECT_EQ(found.types[0].name, "choice");
  EXPECT_EQ(found.types[2].name, "noul");
  ASSERT_EQ(found.buckets.size(), 4U);
  EXPECT_EQ(found.buckets[0].name, "choice:3-5");
  EXPECT_EQ(found.buckets[1].name, "choice:11+");
  EXPECT_EQ(found.buckets[2].name, "score:3-5");
  EXPECT_EQ(found.buckets[3].name, "noul:2");
  ASSERT_EQ(found.sources.size(), 2U);
  EXPECT_EQ(found.sources[0].name, "web");
  EXPECT_EQ(found.sources[0].questions, 2U);
  EXPECT_EQ(found.answers.size(), 4U);
}

// Questions of one line are drawn together: ten lines of ten say less than a hundred lines of one.
TEST(Groups, IntervalsAreOfLines) {
  const std::vector<EvaluationCase> cases(100);
  std::vector<AskedQuestion> together;
  std::vector<AskedQuestion> apart;
  std::vector<Judgement> judgements;
  for (std::size_t i = 0; i < 100; ++i) {
    together.push_back(asked(i / 10, QuestionType::kNoul, 2, 0.5));
    apart.push_back(asked(i, QuestionType::kNoul, 2, 0.5));
    judgements.push_back(judged(i / 10 % 2 == 0, 0));
  }
  const auto width = [&](const std::vector<AskedQuestion>& questions) {
    const Groups found = group_questions(cases, questions, judgements);
    return found.all.accuracy_high - found.all.accuracy_low;
  };
  EXPECT_GT(width(together), 0.4);
  EXPECT_LT(width(apart), 0.25);
}

TEST(Groups, NothingGivesZeros) {
  const Groups found = group_questions({}, {}, {});
  EXPECT_EQ(found.all.questions, 0U);
  EXPECT_EQ(found.all.accuracy, 0);
  EXPECT_EQ(found.all.calibration_error, 0);
  EXPECT_EQ(found.all.bins.size(), kReliabilityBins);
  EXPECT_TRUE(found.types.empty());
}

TEST(Groups, SourcesAreBounded) {
  std::vector<EvaluationCase> cases(kSourcesMax + 5);
  std::vector<AskedQuestion> questions;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].source = "s" + std::to_string(i);
    questions.push_back(asked(i, QuestionType::kNoul, 2, 0.5));
  }
  const std::vector<Judgement> judgements(cases.size());
  const Groups found = group_questions(cases, questions, judgements);
  ASSERT_EQ(found.sources.size(), kSourcesMax + 1);
  EXPECT_EQ(found.sources.back().name, "(further sources)");
  EXPECT_EQ(found.sources.back().questions, 5U);
}

}  // namespace
}  // namespace layard::evaluation
