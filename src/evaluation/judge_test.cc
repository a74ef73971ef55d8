#include "evaluation/judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace layard::evaluation {
namespace {

AskedQuestion asked(QuestionType type, std::vector<double> logits, double temperature,
                    std::size_t picked) {
  AskedQuestion out;
  out.type = type;
  out.logits = std::move(logits);
  out.temperature = temperature;
  out.picked = picked;
  return out;
}

TEST(Judge, ChoiceByHand) {
  // Probabilities 0.6, 0.3, 0.1 at temperature 2.
  const auto question =
      asked(QuestionType::kChoice, {2 * std::log(6.0), 2 * std::log(3.0), 0}, 2, 0);
  const Judgement wrong = judge(question, {0, 1, 0});
  EXPECT_FALSE(wrong.right);
  EXPECT_NEAR(wrong.soft_accuracy, 0.3, 1e-12);
  EXPECT_NEAR(wrong.brier, 0.36 + 0.49 + 0.01, 1e-12);
  EXPECT_NEAR(wrong.nll, -std::log(0.3), 1e-12);
  EXPECT_EQ(wrong.score_error, 0);
  const Judgement soft = judge(question, {0.5, 0.25, 0.25});
  EXPECT_TRUE(soft.right);
  EXPECT_NEAR(soft.soft_accuracy, 0.3 + 0.075 + 0.025, 1e-12);
  EXPECT_NEAR(soft.brier, 0.01 + 0.0025 + 0.0225, 1e-12);
  EXPECT_NEAR(soft.nll, -0.5 * std::log(0.6) - 0.25 * std::log(0.3) - 0.25 * std::log(0.1), 1e-12);
}

TEST(Judge, EitherOfTwoEqualTargetsIsRight) {
  EXPECT_TRUE(judge(asked(QuestionType::kChoice, {0, 1, 0}, 1, 1), {0.4, 0.4, 0.2}).right);
  EXPECT_TRUE(judge(asked(QuestionType::kChoice, {1, 0, 0}, 1, 0), {0.4, 0.4, 0.2}).right);
  EXPECT_FALSE(judge(asked(QuestionType::kChoice, {0, 0, 1}, 1, 2), {0.4, 0.4, 0.2}).right);
  EXPECT_EQ(expected_option({0.4, 0.4, 0.2}), 0U);
}

TEST(Judge, ScoreDistanceIsInLevels) {
  auto question = asked(QuestionType::kScore, {0, 0, 0}, 1, 0);
  question.score = 1.0;
  EXPECT_DOUBLE_EQ(judge(question, {0, 0, 1}).score_error, 1);
  EXPECT_DOUBLE_EQ(judge(question, {0.5, 0, 0.5}).score_error, 0);
}

TEST(Judge, OneOption) {
  const Judgement found = judge(asked(QuestionType::kChoice, {-7}, 1, 0), {1});
  EXPECT_TRUE(found.right);
  EXPECT_EQ(found.soft_accuracy, 1);
  EXPECT_EQ(found.brier, 0);
  EXPECT_EQ(found.nll, 0);
}

TEST(Judge, FarLogitsStayFinite) {
  const Judgement found = judge(asked(QuestionType::kNoul, {2000, -2000}, 0.5, 0), {0, 1});
  EXPECT_DOUBLE_EQ(found.nll, 8000);
  EXPECT_EQ(found.soft_accuracy, 0);
  EXPECT_DOUBLE_EQ(found.brier, 2);
}

}  // namespace
}  // namespace layard::evaluation
