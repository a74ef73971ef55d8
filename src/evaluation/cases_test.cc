#include <gtest/gtest.h>

#include "base/python_random.h"
#include "layard/evaluation.h"

namespace layard {
namespace {

const std::string kQuestions =
    R"("questions": {"team": {"type": "choice", "instructions": "?", "criteria": ["a", "b", "c"]},)"
    R"( "mood": {"type": "score", "instructions": "How?", "criteria": ["bad", "good"]},)"
    R"( "late": {"type": "noul", "instructions": "Is it late?"}})";

std::string line(const std::string& members) {
  return R"({"state": "x", )" + kQuestions + ", " + members + "}\n";
}

TEST(EvaluationCases, PlainTargets) {
  const std::string text =
      "\n" +
      line(R"("expected": {"late": true, "team": "c", "mood": 0}, "source": "s", "other": 1)");
  const auto cases = parse_evaluation_cases(text, "");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ASSERT_EQ(cases->size(), 1U);
  const EvaluationCase& one = (*cases)[0];
  EXPECT_EQ(one.line, 2U);
  EXPECT_EQ(one.source, "s");
  EXPECT_EQ(one.state.text, "x");
  ASSERT_EQ(one.targets.size(), 3U);
  EXPECT_EQ(one.targets[0], (Target{0, 0, 1}));
  EXPECT_EQ(one.targets[1], (Target{1, 0}));
  EXPECT_EQ(one.targets[2], (Target{0, 1}));
}

TEST(EvaluationCases, SoftTargetsSumToOne) {
  const auto cases =
      parse_evaluation_cases(line(R"("gold": {"team": {"probabilities": {"a": 3, "c": 1}},
              "mood": {"probabilities": {"1": 0.25, "0": 0.75}},
              "late": {"probabilities": {"true": 0.5, "false": 0.5}}})"),
                             "");
  ASSERT_FALSE(cases.ok()) << "a line break inside a line";
  const auto soft = parse_evaluation_cases(
      line(R"("gold": {"team": {"probabilities": {"a": 3, "c": 1}}, )"
           R"("mood": {"probabilities": {"1": 0.25, "0": 0.75}}, "late": false})"),
      "");
  ASSERT_TRUE(soft.ok()) << soft.error().message;
  EXPECT_EQ((*soft)[0].targets[0], (Target{0.75, 0, 0.25}));
  EXPECT_EQ((*soft)[0].targets[1], (Target{0.75, 0.25}));
  EXPECT_EQ((*soft)[0].targets[2], (Target{1, 0}));
}

TEST(EvaluationCases, LabelsOfOtherTypes) {
  const std::string text =
      R"({"context": [1], "questions": {"q": {"type": "choice", "instructions": "?",)"
      R"( "criteria": [7, true, "7.5"]}}, "expected": {"q": true}})";
  const auto cases = parse_evaluation_cases(text, "");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  EXPECT_EQ((*cases)[0].targets[0], (Target{0, 1, 0}));
  EXPECT_TRUE((*cases)[0].state.json);
}

// A file that was damaged anywhere is read or refused, with a line in the message.
TEST(EvaluationCases, DamagedFiles) {
  const std::string whole =
      line(R"("expected": {"late": true, "team": "c", "mood": 0}, "split": "dev")") +
      line(R"("gold": {"team": {"probabilities": {"a": 3, "c": 1}}, "mood": 1, "late": false})");
  base::PythonRandom random(11);
  std::size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (std::uint32_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
      if (random.below(2) == 0) {
        text[at] = static_cast<char>(random.below(256));
      } else {
        text.erase(at, 1 + random.below(20));
      }
    }
    const auto cases = parse_evaluation_cases(text, "");
    if (cases.ok()) {
      for (const EvaluationCase& one : *cases) {
        ASSERT_EQ(one.targets.size(), one.questions.questions.size());
      }
      continue;
    }
    ++refused;
    ASSERT_EQ(cases.error().code, ErrorCode::kInvalidRequest);
    ASSERT_NE(cases.error().message.find("line "), std::string::npos) << cases.error().message;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 3000U);
}

TEST(EvaluationCases, Splits) {
  const std::string targets = R"("expected": {"late": true, "team": "c", "mood": 0})";
  const std::string text = line(targets + R"(, "split": "train")") +
                           line(targets + R"(, "split": "dev")") + line(targets) +
                           R"({"split": "train", "anything": "is not read"})";
  EXPECT_FALSE(parse_evaluation_cases(text, "").ok());
  const auto dev = parse_evaluation_cases(text, "dev");
  ASSERT_TRUE(dev.ok()) << dev.error().message;
  ASSERT_EQ(dev->size(), 1U);
  EXPECT_EQ((*dev)[0].line, 2U);
  const auto test = parse_evaluation_cases(text, "test");
  ASSERT_FALSE(test.ok());
  EXPECT_EQ(test.error().message, R"(no line has the split "test"; there are "train", "dev", "")");
}

TEST(EvaluationCases, Refusals) {
  const auto check = [](const std::string& text, const std::string& part) {
    const auto cases = parse_evaluation_cases(text, "");
    ASSERT_FALSE(cases.ok()) << text;
    EXPECT_EQ(cases.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(cases.error().message.find(part), std::string::npos) << cases.error().message;
  };
  check("", "there is no line with questions");
  check("\n{", "line 2: ");
  check("[1]", "line 1: must be an object");
  check(R"({"state": "x", "expected": {}})", "line 1: ");
  check(R"({"state": "x", "questions": {}, "expected": {}})", "\"questions\" has no question");
  check(line(R"("a": 1)"), "needs \"expected\"");
  check(line(R"("expected": {}, "gold": {})"), "give one of the two");
  check(line(R"("expected": [])"), "\"expected\" must be an object");
  check(line(R"("expected": {"team": "a", "mood": 0})"), "question \"late\": has no answer");
  check(line(R"("expected": {"team": "d", "mood": 0, "late": true})"),
        "line 1: expected, question \"team\": \"d\" is none of its labels: a, b, c");
  check(line(R"("expected": {"team": "a", "mood": 2, "late": true})"), "levels, 0 to 1");
  check(line(R"("expected": {"team": "a", "mood": true, "late": true})"), "no index of its levels");
  check(line(R"("expected": {"team": "a", "mood": 0, "late": "true"})"), "must be true or false");
  check(line(R"("expected": {"team": "a", "mood": 0, "late": true, "more": 1})"),
        "\"more\" is none of the line's questions");
  check(line(R"("gold": {"team": {"probs": {}}, "mood": 0, "late": true})"),
        "must have \"probabilities\"");
  check(line(R"("gold": {"team": {"probabilities": {"x": 1}}, "mood": 0, "late": true})"),
        "\"x\" is none of its labels");
  check(line(R"("gold": {"team": {"probabilities": {"a": -1}}, "mood": 0, "late": true})"),
        "must be a number from 0 on");
  check(line(R"("gold": {"team": {"probabilities": {"a": 0}}, "mood": 0, "late": true})"),
        "sum above 0");
  check(line(R"("expected": {"team": "a", "mood": 0, "late": true}, "source": 3)"),
        "\"source\" must be a text");
}

}  // namespace
}  // namespace layard
