#include "evaluation/cascade_answers.h"

#include <gtest/gtest.h>

namespace layard::evaluation {
namespace {

TEST(CascadeAnswers, Chains) {
  const auto check = [](const std::vector<std::string>& chain, const std::string& part) {
    const Status status = check_chain(chain);
    ASSERT_EQ(status.ok(), part.empty());
    if (part.empty()) return;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  check({"starter", "laya"}, "");
  check({}, "2 to 8 checkpoints, smallest first, got 0");
  check({"starter"}, "got 1");
  check({"a", "b", "c", "d", "e", "f", "g", "h", "i"}, "got 9");
  check({"starter", "auto"}, "'auto' is none");
  check({"starter", ""}, "'' is none");
  check({"a", "b", "a"}, "'a' is twice");
}

Prediction prediction(const std::vector<std::string>& ids, std::int64_t tokens) {
  Prediction out;
  for (const std::string& id : ids) {
    Answer answer;
    answer.id = id;
    answer.value = NoulAnswer{0.75, 0.75, 0.75};
    out.answers.answers.push_back(answer);
    RawRow row;
    row.question = id;
    out.rows.push_back(row);
  }
  out.answers.usage.ran = true;
  out.answers.usage.input_tokens = tokens;
  out.answers.usage.state_tokens = tokens / 2;
  out.runtime.latency_ms = static_cast<double>(tokens);
  out.runtime.question_count = static_cast<std::int64_t>(ids.size());
  return out;
}

// What was cut is said of the stage that answers; costs are those of all stages.
TEST(CascadeAnswers, SumsCostsAndKeepsEachStagesOwn) {
  Request request;
  request.state.text = "text";
  request.questions = *parse_questions(R"(["a?","b?"])", {});
  request.questions.warnings = {"slip"};
  request.orders = 2;
  CascadeAnswers answers(request);
  EXPECT_TRUE(answers.is_waiting());
  EXPECT_EQ(answers.open_request().questions, request.questions);

  Prediction first = prediction({"a?", "b?"}, 40);
  first.answers.usage.truncated_questions = {"a?", "b?"};
  first.answers.usage.truncated = 1;
  first.answers.usage.options = {{"a?", 3, 2, {}}, {"b?", 3, 1, {}}};
  first.answers.warnings = {"slip", "cut"};
  first.runtime.rechecked = 1;
  CascadeDecision decision;
  decision.stage = 1;
  answers.answer(0, first, 0, decision);
  answers.pass_on(1, {"small", 0.6, 0.8});
  answers.add_stage(first);
  EXPECT_EQ(answers.open(), std::vector<std::size_t>{1});
  const Request open = answers.open_request();
  ASSERT_EQ(open.questions.questions.size(), 1U);
  EXPECT_EQ(open.questions.questions[0].id, "b?");
  EXPECT_TRUE(open.questions.warnings.empty());  // said once
  EXPECT_EQ(open.orders, 2);

  Prediction second = prediction({"b?"}, 30);
  second.answers.warnings = {"cut", "other"};
  decision.stage = 2;
  answers.answer(1, second, 0, decision);
  answers.add_stage(second);
  EXPECT_FALSE(answers.is_waiting());
  const auto found = answers.finish();
  ASSERT_TRUE(found.ok());
  const AnswerSet& set = found->prediction.answers;
  EXPECT_EQ(set.usage.input_tokens, 70);
  EXPECT_EQ(set.usage.state_tokens, 20);
  EXPECT_EQ(set.usage.truncated_questions, std::vector<std::string>{"a?"});
  ASSERT_EQ(set.usage.options.size(), 1U);
  EXPECT_EQ(set.usage.options[0].question, "a?");
  EXPECT_EQ(set.warnings, (std::vector<std::string>{"slip", "cut", "other"}));
  EXPECT_EQ(found->prediction.rows.size(), 2U);
  EXPECT_EQ(found->prediction.runtime.latency_ms, 70);
  EXPECT_EQ(found->prediction.runtime.question_count, 2);
  EXPECT_EQ(found->prediction.runtime.rechecked, 1);
  EXPECT_EQ(found->decisions[1].passed_on,
            (std::vector<CascadeDecision::PassedOn>{{"small", 0.6, 0.8}}));
}

TEST(CascadeAnswers, AFailedStageEndsIt) {
  Request request;
  request.questions = *parse_questions(R"(["a?"])", {});
  CascadeAnswers answers(request);
  answers.fail({ErrorCode::kBackendUnavailable, "gone"});
  EXPECT_FALSE(answers.is_waiting());
  const auto found = answers.finish();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kBackendUnavailable);
}

}  // namespace
}  // namespace layard::evaluation
