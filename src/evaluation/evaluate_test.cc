#include "evaluation/judge.h"
#include "layard/evaluation.h"
#include "support/tiny_model.h"

namespace layard {
namespace {

class Evaluate : public testing::TinyModel {
 protected:
  static std::vector<EvaluationCase> cases() {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += R"({"state": "text )" + std::to_string(i) +
              R"(", "source": "web", "questions": {"c": {"type": "choice", "instructions": "?",)"
              R"( "criteria": ["one", "two", "three"]}, "n": {"type": "noul",)"
              R"( "instructions": "Is it?"}}, "expected": {"c": "two", "n": )" +
              (i % 2 == 0 ? "true" : "false") + "}}\n";
    }
    return *parse_evaluation_cases(text, "");
  }
};

TEST_F(Evaluate, CountsAddUp) {
  const auto found = evaluate(options(), cases(), {}, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->cases, 12U);
  EXPECT_EQ(found->all.questions, 24U);
  ASSERT_EQ(found->types.size(), 2U);
  EXPECT_EQ(found->types[0].right + found->types[1].right, found->all.right);
  EXPECT_EQ(found->all.reversed, 12U);
  EXPECT_EQ(found->types[1].reversed, 0U);
  ASSERT_EQ(found->sources.size(), 1U);
  EXPECT_EQ(found->sources[0].right, found->all.right);
  EXPECT_LE(found->all.accuracy_low, found->all.accuracy);
  EXPECT_GE(found->all.accuracy_high, found->all.accuracy);
  EXPECT_EQ(found->abstention.front().answered, 24U);
  EXPECT_EQ(found->mistakes.size(), std::min<std::size_t>(24 - found->all.right, kMistakesMax));
  EXPECT_EQ(found->dtype, "float32");
  EXPECT_EQ(found->weights_sha256.size(), 64U);
  EXPECT_GT(found->ms_per_question, 0);
}

TEST_F(Evaluate, NumbersAreThoseOfTheAnswers) {
  const auto lines = cases();
  const auto found = evaluate(options(), lines, {.reverse = false}, {});
  const auto model = open();
  std::size_t right = 0;
  double brier = 0;
  double soft = 0;
  for (const EvaluationCase& one : lines) {
    const auto answers = model->predict(one.state, one.questions, {});
    const auto& choice = std::get<ChoiceAnswer>(answers->answers.answers[0].value);
    right += choice.choice.key == "two" ? 1 : 0;
    for (const LabelProbability& label : choice.probabilities) {
      const double target = label.key == "two" ? 1 : 0;
      brier += (label.probability - target) * (label.probability - target);
      soft += label.probability * target;
    }
  }
  EXPECT_EQ(found->types[0].right, right);
  EXPECT_NEAR(found->types[0].brier, brier / 12, 1e-3);
  EXPECT_NEAR(found->types[0].soft_accuracy, soft / 12, 1e-3);
  EXPECT_EQ(found->all.reversed, 0U);
}

TEST_F(Evaluate, SameBytesAgain) {
  auto first = *evaluate(options(), cases(), {}, {});
  auto second = *evaluate(options(), cases(), {}, {});
  first.ms_per_question = second.ms_per_question = 0;
  EXPECT_EQ(evaluation_json(first), evaluation_json(second));
}

TEST_F(Evaluate, MistakesKeepWholeCharacters) {
  auto lines = cases();
  for (EvaluationCase& one : lines) {
    one.state.text.clear();
    for (int i = 0; i < 300; ++i) one.state.text += "\xC3\xA4";
    one.state.text.insert(0, "x");
  }
  const auto found = evaluate(options(), lines, {}, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_FALSE(found->mistakes.empty());
  const std::string& text = found->mistakes[0].text;
  EXPECT_EQ(text.size(), 399U + 3U);
  EXPECT_TRUE(text.ends_with("\xC3\xA4..."));
}

TEST_F(Evaluate, FailsAsOpeningDoes) {
  ModelOptions absent = options();
  absent.model = (folder_.path() / "absent").string();
  EXPECT_EQ(evaluate(absent, cases(), {}, {}).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace layard
