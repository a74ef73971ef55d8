#include "layard/cascade.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "evaluation/cascade_answers.h"
#include "runtime/resolve.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard {
namespace {

constexpr const char* kQuestions =
    R"({"team":{"type":"choice","instructions":"which","criteria":["a","b","c"]},
        "level":{"type":"score","instructions":"how much","criteria":["low","high"]},
        "yes":{"type":"noul","instructions":"is it so"}})";

class CascadeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::TinyOptions tiny;
    testing::write_tiny_checkpoint(folder_.path() / "small", tiny);
    tiny.seed = 2;
    testing::write_tiny_checkpoint(folder_.path() / "large", tiny);
  }

  std::string path(const char* name) { return (folder_.path() / name).string(); }

  ModelOptions checkpoint(const char* name) {
    ModelOptions options;
    options.model = path(name);
    options.environment.threads = 1;
    return options;
  }

  CascadeOptions options() {
    CascadeOptions options;
    options.checkpoints = checkpoint("small");
    options.chain = {path("small"), path("large")};
    return options;
  }

  std::unique_ptr<Cascade> open(const CascadeOptions& options) {
    auto cascade = Cascade::open(options);
    EXPECT_TRUE(cascade.ok()) << cascade.error().message;
    return *std::move(cascade);
  }

  Prediction alone(const char* name, bool raw = false) {
    PredictOptions options;
    options.raw = raw;
    return *(*Model::open(checkpoint(name)))
                ->predict({"some text"}, *parse_questions(kQuestions, {}), options);
  }

  // Those thresholds of the small one, for these weights.
  CascadePlan plan(std::vector<CascadeThreshold> thresholds) {
    const auto hash = [&](const char* name) {
      return runtime::resolve_model(checkpoint(name))->weights_sha256;
    };
    CascadePlan out;
    out.chain = {{"small", hash("small"), std::move(thresholds)}, {"large", hash("large"), {}}};
    out.risk = 0.05;
    return out;
  }

  testing::TempDir folder_;
};

TEST_F(CascadeTest, EachQuestionIsAnsweredWhereItIsSureEnough) {
  const auto questions = *parse_questions(kQuestions, {});
  const Prediction small = alone("small");
  const Prediction large = alone("large");
  CascadeOptions by_bucket = options();
  const double team = evaluation::answer_confidence(small.answers.answers[0]);
  const double level = evaluation::answer_confidence(small.answers.answers[1]);
  by_bucket.plan = plan({{"choice:3-5", team}, {"score:2", level + 0.0001}, {"default", {}}});
  const auto found = open(by_bucket)->predict({"some text"}, questions, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto& answers = found->prediction.answers.answers;
  EXPECT_EQ(answers[0], small.answers.answers[0]);
  EXPECT_EQ(answers[1], large.answers.answers[1]);
  EXPECT_EQ(answers[2], large.answers.answers[2]);
  const double second = evaluation::answer_confidence(answers[1]);
  const double third = evaluation::answer_confidence(answers[2]);
  EXPECT_EQ(
      found->decisions[0],
      (CascadeDecision{
          "team", 1, path("small"), team, team, "fitted_threshold_reached", "choice:3-5", {}}));
  EXPECT_EQ(found->decisions[1], (CascadeDecision{"level",
                                                  2,
                                                  path("large"),
                                                  second,
                                                  {},
                                                  "last_stage",
                                                  "",
                                                  {{path("small"), level, level + 0.0001}}}));
  const double yes = evaluation::answer_confidence(small.answers.answers[2]);
  EXPECT_EQ(found->decisions[2],
            (CascadeDecision{
                "yes", 2, path("large"), third, {}, "last_stage", "", {{path("small"), yes, {}}}}));
  ASSERT_EQ(found->prediction.answers.extra.size(), 1U);
  EXPECT_EQ(found->prediction.answers.extra[0].key, "cascade");
  EXPECT_EQ(found->prediction.answers.extra[0].json, print_cascade_decisions(found->decisions));
  EXPECT_EQ(found->prediction.runtime.question_count, 3);
  EXPECT_EQ(found->prediction.runtime.model, path("large"));
}

// Only what the first was not sure of is asked of the second: tokens say so.
TEST_F(CascadeTest, OnlyOpenQuestionsAreAskedAgain) {
  const auto questions = *parse_questions(kQuestions, {});
  PredictOptions raw;
  raw.raw = true;
  const Prediction small = alone("small", true);
  const auto tokens = [&](double threshold) {
    CascadeOptions by_hand = options();
    by_hand.threshold = threshold;
    const auto found = open(by_hand)->predict({"some text"}, questions, raw);
    EXPECT_EQ(found->prediction.rows.size(), 3U);
    return found->prediction.answers.usage.input_tokens;
  };
  EXPECT_EQ(tokens(0), small.answers.usage.input_tokens);
  EXPECT_EQ(tokens(1), 2 * small.answers.usage.input_tokens);
  std::vector<double> confidences;
  for (const Answer& answer : small.answers.answers) {
    confidences.push_back(evaluation::answer_confidence(answer));
  }
  const auto least = std::ranges::min_element(confidences) - confidences.begin();
  std::ranges::sort(confidences);
  ASSERT_LT(confidences[0], confidences[1]);
  const auto again =
      static_cast<std::int64_t>(small.rows[static_cast<std::size_t>(least)].input_ids.size());
  EXPECT_EQ(tokens(confidences[1]), small.answers.usage.input_tokens + again);
}

TEST_F(CascadeTest, ByHandIsSaid) {
  CascadeOptions by_hand = options();
  by_hand.threshold = 0;
  const auto found = open(by_hand)->predict({"some text"}, *parse_questions(kQuestions, {}), {});
  ASSERT_TRUE(found.ok());
  for (const CascadeDecision& decision : found->decisions) {
    EXPECT_EQ(decision.reason, "by_hand_threshold_reached");
    EXPECT_EQ(decision.threshold_of, "by hand");
    EXPECT_EQ(decision.threshold, 0);
  }
  EXPECT_EQ(found->prediction.answers.answers, alone("small").answers.answers);
}

TEST_F(CascadeTest, ManyEqualSingles) {
  CascadeOptions by_hand = options();
  by_hand.threshold = 0.55;
  const auto cascade = open(by_hand);
  std::vector<Request> requests;
  for (int i = 0; i < 20; ++i) {
    requests.push_back({{"text " + std::to_string(i * 7919)},
                        *parse_questions(kQuestions, {}),
                        std::nullopt,
                        std::nullopt});
  }
  requests[4].questions.questions.clear();
  requests[5].state.text = std::string(4000, 'x');
  requests[5].overflow = OverflowPolicy::kError;
  requests[6].orders = 3;
  const auto many = cascade->predict_many(requests, {});
  std::vector<std::size_t> stages(3);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto one = std::move(cascade->predict_many(std::span(&requests[i], 1), {})[0]);
    ASSERT_EQ(one.ok(), many[i].ok()) << i;
    if (!one.ok()) continue;
    EXPECT_EQ(one->prediction.answers, many[i]->prediction.answers) << i;
    for (const CascadeDecision& decision : one->decisions) ++stages[decision.stage];
  }
  EXPECT_FALSE(many[5].ok());
  EXPECT_EQ(many[5].error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(many[4]->decisions.empty());
  EXPECT_TRUE(many[4]->prediction.answers.extra.empty());
  EXPECT_EQ(many[6]->prediction.answers.stability.size(), 3U);
  // A test where every answer is one stage's would show nothing.
  EXPECT_GT(stages[1], 0U);
  EXPECT_GT(stages[2], 0U);
}

TEST_F(CascadeTest, ACheckpointThatIsNotReachedIsNotLoaded) {
  CascadeOptions by_hand = options();
  by_hand.chain[1] = path("absent");
  by_hand.threshold = 0;
  const auto questions = *parse_questions(kQuestions, {});
  EXPECT_TRUE(open(by_hand)->predict({"some text"}, questions, {}).ok());
  by_hand.threshold = 1;
  const auto failed = open(by_hand)->predict({"some text"}, questions, {});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("absent"), std::string::npos) << failed.error().message;
}

TEST_F(CascadeTest, OtherWeightsAreRefused) {
  CascadeOptions other = options();
  other.plan = plan({{"default", 0.0}});
  std::swap(other.chain[0], other.chain[1]);
  const auto found = open(other)->predict({"some text"}, *parse_questions(kQuestions, {}), {});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(found.error().message.find("were fitted on the weights"), std::string::npos);
}

TEST_F(CascadeTest, RefusedOptions) {
  const auto check = [&](const CascadeOptions& options, const std::string& part) {
    const auto cascade = Cascade::open(options);
    ASSERT_FALSE(cascade.ok()) << part;
    EXPECT_EQ(cascade.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(cascade.error().message.find(part), std::string::npos) << cascade.error().message;
  };
  CascadeOptions given = options();
  check(given, "layard evaluate --cascade");
  check(given, "--cascade-threshold X");
  given.threshold = 1.01;
  check(given, "from 0 to 1");
  given.threshold = 0.5;
  given.plan = plan({});
  check(given, "one of the two");
  given.threshold.reset();
  given.chain.push_back(path("third"));
  check(given, "are for a chain of 2 checkpoints");
}

}  // namespace
}  // namespace layard
