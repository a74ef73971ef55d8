#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "layard/cascade.h"

namespace layard {
namespace {

CascadeEvaluation evaluation() {
  CascadeEvaluation out;
  const std::string hash(64, 'a');
  out.plan.chain = {{"starter", hash, {{"choice:3-5", 0.8125}, {"default", {}}}},
                    {"laya", hash, {}}};
  out.plan.risk = 0.05;
  out.plan.fitted_on = {"made.jsonl", "float32", 30, 7};
  out.fit_lines = 10;
  out.fit_questions = 30;
  out.lines = 11;
  out.stages = {{"starter", 20, 0.625, 1.5}, {"laya", 30, 0.9375, 40}};
  out.fitted = {{}, 32, 28, 0.875, {24, 8}, {3, 1}, 11.5};
  out.curve = {{0.0, 32, 20, 0.625, {32, 0}, {12, 0}, 1.5},
               {1.0, 32, 30, 0.9375, {0, 32}, {0, 2}, 41.5}};
  return out;
}

TEST(CascadeReport, Text) {
  EXPECT_EQ(print_cascade_evaluation(evaluation()),
            "accuracy 87.5% (28/32), 11.50 ms per question\n"
            "fitted on 30 questions of 10 lines, measured on 32 of 11 others; split by seed 7, "
            "risk 0.050\n"
            "stage    alone               answered            wrong of those      ms per question\n"
            "starter  62.5% (20/32)       75.0% (24/32)       12.5% (3/24)        1.50\n"
            "laya     93.8% (30/32)       25.0% (8/32)        12.5% (1/8)         40.00\n"
            "starter answers from:  choice:3-5 0.8125  default never\n"
            "one threshold for all: accuracy, ms per question, answered by each stage\n"
            "0.00    62.5%      1.50       32        0\n"
            "1.00    93.8%     41.50        0       32\n");
}

TEST(CascadeReport, Json) {
  const auto root = base::parse_json(cascade_evaluation_json(evaluation()), {});
  ASSERT_TRUE(root.ok()) << root.error().message;
  const auto text = [](const base::JsonValue* value) {
    return value == nullptr ? "" : write_json(*value, base::JsonStyle::kCompact);
  };
  EXPECT_EQ(text(root->find("fitted")),
            R"({"threshold":null,"questions":32,"right":28,"accuracy":0.875,"answered":[24,8],)"
            R"("wrong":[3,1],"ms_per_question":11.5})");
  EXPECT_EQ(text(&root->find("stages")->items()[1]),
            R"({"model":"laya","right":30,"accuracy":0.9375,"ms_per_question":40.0})");
  EXPECT_EQ(root->find("curve")->size(), 2U);
  EXPECT_EQ(root->find("fit_lines")->as_int64(), 10);
  EXPECT_EQ(root->find("lines")->as_int64(), 11);
  // The member that --write-cascade writes.
  const auto plan = parse_cascade_plan(text(root->find("plan")));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(*plan, evaluation().plan);
}

}  // namespace
}  // namespace layard
