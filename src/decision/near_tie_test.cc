#include "decision/near_tie.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace layard::decision {
namespace {

Question question(const std::string& definition) {
  return parse_questions("{\"q\":" + definition + "}", {})->questions.at(0);
}
Question choice(int labels) {
  std::string criteria;
  for (int i = 0; i < labels; ++i) criteria += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\"";
  return question(R"({"type":"choice","instructions":"x","criteria":[)" + criteria + "]}");
}
Question score(int levels) {
  std::string criteria;
  for (int i = 0; i < levels; ++i) criteria += i > 0 ? ",\"l\"" : "\"l\"";
  return question(R"({"type":"score","instructions":"x","criteria":[)" + criteria + "]}");
}
Question noul() { return question(R"({"type":"noul","instructions":"x"})"); }

// Logits whose softmax is `p`.
std::vector<float> logits_of(const std::vector<double>& p) {
  std::vector<float> out;
  for (const double value : p) out.push_back(static_cast<float>(std::log(value)));
  return out;
}

void check(const Question& asked, const std::vector<double>& p, bool expected) {
  const auto found = near_tie(asked, logits_of(p), {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  std::string shown;
  for (const double value : p) shown += std::to_string(value) + " ";
  EXPECT_EQ(*found, expected) << to_string(asked.type) << " " << shown;
}

TEST(NearTie, ChoiceByItsTwoBest) {
  check(choice(3), {0.50, 0.45, 0.05}, false);
  check(choice(3), {0.41, 0.05, 0.54}, false);
  check(choice(3), {0.05, 0.49, 0.46}, true);
  check(choice(2), {0.5201, 0.4799}, false);
  check(choice(2), {0.5199, 0.4801}, true);
  check(choice(1), {1.0}, false);
}

TEST(NearTie, NoulAroundOneHalf) {
  check(noul(), {0.4799, 0.5201}, false);
  check(noul(), {0.4801, 0.5199}, true);
  check(noul(), {0.5199, 0.4801}, true);
  check(noul(), {0.9, 0.1}, false);
}

// What counts is the score, not the most likely level: 1.0 is no tie however equal the ends are.
TEST(NearTie, ScoreAroundTheMiddleOfTwoLevels) {
  check(score(3), {0.495, 0.01, 0.495}, false);
  check(score(3), {0.51, 0.48, 0.01}, true);     // 0.50
  check(score(3), {0.55, 0.355, 0.095}, false);  // 0.545
  check(score(3), {0.555, 0.36, 0.085}, true);   // 0.53
  check(score(3), {0.01, 0.48, 0.51}, true);     // 1.50
  check(score(3), {0.01, 0.01, 0.98}, false);    // 1.97
  check(score(2), {0.5201, 0.4799}, false);
  check(score(2), {0.5199, 0.4801}, true);
  check(score(5), {0.1, 0.1, 0.2, 0.47, 0.13}, true);    // 2.43, within 0.08 of 2.5
  check(score(5), {0.12, 0.1, 0.2, 0.48, 0.10}, false);  // 2.34
  check(score(1), {1.0}, false);
}

// Temperatures decide: the same logits are far apart raw and near when they are divided.
TEST(NearTie, IsAboutCalibratedProbabilities) {
  const std::vector<float> logits = {0.09F, 0.0F};
  EXPECT_FALSE(*near_tie(noul(), logits, {}));
  const auto warm = Calibration::from_config_json(R"({"temperature":[1,1,2.0]})");
  EXPECT_TRUE(*near_tie(noul(), logits, *warm));
}

TEST(NearTie, OptionOrderDoesNotMatter) {
  Question turned = score(3);
  turned.option_order = {2, 0, 1};
  // Slots show levels 2, 0, 1: the expected level is 1.5, a tie only when the order is undone.
  EXPECT_TRUE(*near_tie(turned, logits_of({0.51, 0.01, 0.48}), {}));
  EXPECT_FALSE(*near_tie(score(3), logits_of({0.51, 0.01, 0.48}), {}));
}

TEST(NearTie, WhatIsNotFiniteIsAnError) {
  EXPECT_FALSE(near_tie(noul(), std::vector<float>{0.0F, NAN}, {}).ok());
  EXPECT_FALSE(near_tie(noul(), std::vector<float>{0.0F}, {}).ok());
}

}  // namespace
}  // namespace layard::decision
