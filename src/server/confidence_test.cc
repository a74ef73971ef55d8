#include "server/confidence.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::server {
namespace {

base::JsonValue json(const char* text) {
  return base::parse_json(text, base::JsonLimits{}).value();
}

TEST(ServerConfidence, JevChoice) {
  const auto check = [](std::vector<double> p, double expected) {
    EXPECT_EQ(jev_choice_confidence(p), expected);
  };
  check({.82, .18}, .64);
  check({.88, .12}, .76);
  check({.5, .5}, 0);
  check({0, 0, 0}, 0);
  check({.09, .2447, .6652}, .4979);
  check({.3}, 1);
  check({2, 2}, 0);  // made to sum to 1 first
}

TEST(ServerConfidence, JevScore) {
  const auto check = [](std::vector<double> p, double expected) {
    EXPECT_EQ(jev_score_confidence(p), expected);
  };
  check({.01, .02, .07, .3, .6}, .55);
  check({0, .95, .05}, .925);
  check({.2, .2, .2, .2, .2}, 0);
  check({0, 0, 0}, 0);
  check({1}, 1);
  check({0, 0, 1}, 1);
}

Answer choice(std::vector<double> probabilities, double answer_confidence) {
  ChoiceAnswer value;
  for (const double p : probabilities) value.probabilities.push_back({"x", p});
  value.answer_confidence = answer_confidence;
  Answer answer;
  answer.value = value;
  return answer;
}

TEST(ServerConfidence, JevOfAnswers) {
  EXPECT_EQ(jev_confidence(choice({.82, .18}, .82)), .64);
  Answer answer;
  answer.value = ScoreAnswer{.score = 1, .legend = {}, .probabilities = {0, .95, .05}};
  EXPECT_EQ(jev_confidence(answer), .925);
  answer.value = NoulAnswer{.noul = .9};
  EXPECT_EQ(jev_confidence(answer), std::nullopt);
}

TEST(ServerConfidence, Buckets) {
  for (const auto& [options, width] : std::vector<std::pair<std::size_t, std::string>>{
           {1, "2"}, {2, "2"}, {3, "3-5"}, {5, "3-5"}, {6, "6-10"}, {10, "6-10"}, {11, "11+"}}) {
    EXPECT_EQ(bucket_of(QuestionType::kChoice, options), "choice:" + width) << options;
  }
  EXPECT_EQ(bucket_of(QuestionType::kNoul, 2), "noul:2");
}

void check_gate_fault(const char* text, const char* expected) {
  const auto gate = read_gate(json(text));
  ASSERT_TRUE(std::holds_alternative<Fault>(gate)) << text;
  EXPECT_EQ(std::get<Fault>(gate), (Fault{422, expected}));
}

TEST(ServerConfidence, GatesThatAreRefused) {
  check_gate_fault("true", "min_confidence must be a float in [0.0, 1.0], got True");
  check_gate_fault("1.5", "min_confidence must be a float in [0.0, 1.0], got 1.5");
  check_gate_fault("-0.1", "min_confidence must be a float in [0.0, 1.0], got -0.1");
  check_gate_fault("1e999", "min_confidence must be a float in [0.0, 1.0], got 1e999");
  check_gate_fault("\"a\"", "min_confidence must be a float in [0.0, 1.0], got 'a'");
  check_gate_fault("{}",
                   "a min_confidence map must be a non-empty dict of bucket -> float, got {}");
  check_gate_fault("{\"choice:4\":0.5}",
                   "min_confidence map keys must be a bucket like 'choice:3-5' or 'default', got "
                   "'choice:4'");
  check_gate_fault("{\"default\":null}", "min_confidence must be a float in [0.0, 1.0], got None");
}

void check_outcome(const char* gate, const Answer& answer, bool passed, double threshold) {
  const GateOutcome outcome = apply_gate(std::get<ConfidenceGate>(read_gate(json(gate))), answer);
  EXPECT_EQ(outcome.passed, passed) << gate;
  EXPECT_EQ(outcome.threshold, threshold) << gate;
}

TEST(ServerConfidence, Gate) {
  const Answer three = choice({.6, .3, .1}, .6);
  check_outcome("0.6", three, true, .6);
  check_outcome("0.61", three, false, .61);
  check_outcome("0", three, true, 0);
  check_outcome(R"({"choice:3-5":0.7,"default":0.1})", three, false, .7);
  check_outcome(R"({"choice:2":0.7,"default":0.1})", three, true, .1);
  check_outcome(R"({"choice:2":0.7})", three, true, 0);
}

}  // namespace
}  // namespace layard::server
