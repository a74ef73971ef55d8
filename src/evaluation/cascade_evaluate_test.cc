#include <gtest/gtest.h>

#include <algorithm>

#include "layard/cascade.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard {
namespace {

class CascadeEvaluate : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::TinyOptions tiny;
    testing::write_tiny_checkpoint(folder_.path() / "small", tiny);
    tiny.seed = 2;
    testing::write_tiny_checkpoint(folder_.path() / "large", tiny);
    chain_ = {(folder_.path() / "small").string(), (folder_.path() / "large").string()};
    options_.environment.threads = 1;
  }

  // Lines whose labels are what `name` itself answers.
  std::vector<EvaluationCase> cases_of(const char* name, int lines) {
    ModelOptions options = options_;
    options.model = (folder_.path() / name).string();
    const auto model = *Model::open(options);
    std::vector<EvaluationCase> out;
    for (int i = 0; i < lines; ++i) {
      EvaluationCase one;
      one.state.text = "text number " + std::to_string(i * 7919);
      one.line = static_cast<std::size_t>(i) + 1;
      one.questions = *parse_questions(
          R"({"team":{"type":"choice","instructions":"which","criteria":["a","b","c"]},
              "level":{"type":"score","instructions":"how much","criteria":["x","y","z"]},
              "yes":{"type":"noul","instructions":"is it so"}})",
          {});
      const auto answers = model->predict(one.state, one.questions, {})->answers.answers;
      const auto& team = std::get<ChoiceAnswer>(answers[0].value);
      for (const LabelProbability& label : team.probabilities) {
        one.targets.resize(1);
        one.targets[0].push_back(label.key == team.choice.key ? 1 : 0);
      }
      one.targets.push_back(std::get<ScoreAnswer>(answers[1].value).probabilities);
      const bool yes = std::get<NoulAnswer>(answers[2].value).noul > 0.5;
      one.targets.push_back({yes ? 0.0 : 1.0, yes ? 1.0 : 0.0});
      out.push_back(std::move(one));
    }
    return out;
  }

  Result<CascadeEvaluation> evaluate(std::span<const EvaluationCase> cases,
                                     const CascadeEvaluationOptions& options) {
    return evaluate_cascade(options_, chain_, cases, options, {});
  }

  testing::TempDir folder_;
  ModelOptions options_;
  std::vector<std::string> chain_;
};

TEST_F(CascadeEvaluate, FitsOnOneHalfAndMeasuresOnTheOther) {
  const auto cases = cases_of("large", 101);
  CascadeEvaluationOptions options;
  options.data = "made.jsonl";
  std::size_t calls = 0;
  const auto found =
      evaluate_cascade(options_, chain_, cases, options, [&](std::size_t done, std::size_t total) {
        ++calls;
        EXPECT_LE(done, total);
        EXPECT_EQ(total, 202U);
      });
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(calls, 4U);
  EXPECT_EQ(found->fit_lines, 50U);
  EXPECT_EQ(found->fit_questions, 150U);
  EXPECT_EQ(found->lines, 51U);
  EXPECT_EQ(found->fitted.questions, 153U);
  // The labels are the last stage's own answers.
  EXPECT_EQ(found->stages[1].accuracy, 1);
  EXPECT_LT(found->stages[0].accuracy, 1);
  EXPECT_EQ(found->fitted.wrong[1], 0U);
  EXPECT_EQ(found->fitted.answered[0] + found->fitted.answered[1], 153U);
  ASSERT_EQ(found->curve.size(), 21U);
  EXPECT_EQ(found->curve[0].right, found->stages[0].right);
  EXPECT_EQ(found->curve[0].answered[1], 0U);
  EXPECT_GT(found->stages[0].ms_per_question, 0);
  EXPECT_EQ(found->plan.fitted_on, (CascadeFitData{"made.jsonl", "float32", 150, 1}));
  EXPECT_EQ(found->plan.chain[0].weights_sha256.size(), 64U);
  EXPECT_NE(found->plan.chain[0].weights_sha256, found->plan.chain[1].weights_sha256);
  EXPECT_TRUE(found->plan.chain[1].thresholds.empty());
  EXPECT_EQ(*parse_cascade_plan(print_cascade_plan(found->plan)), found->plan);
}

// A cascade that is run decides as the measurement said it would.
TEST_F(CascadeEvaluate, TheMeasuredChainIsTheOneThatRuns) {
  const auto cases = cases_of("small", 101);  // small is always right: it answers a lot
  const auto found = evaluate(cases, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->stages[0].accuracy, 1);
  EXPECT_GT(found->fitted.answered[0], 0U);
  CascadeOptions options;
  options.checkpoints = options_;
  options.chain = chain_;
  options.plan = found->plan;
  const auto cascade = *Cascade::open(options);
  std::size_t first = 0;
  for (const EvaluationCase& one : cases) {
    const auto ran = cascade->predict(one.state, one.questions, {});
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    for (const CascadeDecision& decision : ran->decisions) {
      if (decision.stage != 1) continue;
      ++first;
      EXPECT_GE(decision.confidence, decision.threshold.value());
    }
  }
  EXPECT_GE(first, found->fitted.answered[0]);
}

TEST_F(CascadeEvaluate, TheSplitFollowsFromTheSeed) {
  auto cases = cases_of("large", 40);
  // Only the first lines are right: how many of them are measured on follows from the split.
  for (std::size_t i = 20; i < cases.size(); ++i) std::ranges::reverse(cases[i].targets[2]);
  CascadeEvaluationOptions options;
  const auto one = evaluate(cases, options);
  const auto again = evaluate(cases, options);
  EXPECT_EQ(one->fitted.right, again->fitted.right);
  EXPECT_EQ(one->fitted.answered, again->fitted.answered);
  EXPECT_EQ(one->plan, again->plan);
  bool differs = false;
  for (options.seed = 2; options.seed < 6; ++options.seed) {
    differs = differs || evaluate(cases, options)->stages[1].right != one->stages[1].right;
  }
  EXPECT_TRUE(differs);
}

TEST_F(CascadeEvaluate, Refusals) {
  const auto check = [&](std::span<const EvaluationCase> cases,
                         const CascadeEvaluationOptions& options, const char* part) {
    const auto found = evaluate(cases, options);
    ASSERT_FALSE(found.ok()) << part;
    EXPECT_EQ(found.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
  };
  auto cases = cases_of("large", 3);
  CascadeEvaluationOptions options;
  check(std::span(cases).first(1), options, "two lines");
  options.risk = 0;
  check(cases, options, "risk must be between 0 and 1");
  options.risk = 1;
  check(cases, options, "risk must be between 0 and 1");
  options.risk = 0.05;
  options.seed = std::uint64_t{1} << 63;
  check(cases, options, "seed must be below 2^63");
  options.seed = 1;
  cases[1].questions.questions[0].options.assign(70, "an option");
  cases[1].questions.questions[0].labels.resize(70);
  check(cases, options, "line 2: ");
}

}  // namespace
}  // namespace layard
