#include <gtest/gtest.h>

#include <string>

#include "layard/cascade.h"

namespace layard {
namespace {

const std::string kHash(64, 'a');

CascadePlan plan() {
  CascadePlan out;
  out.chain = {{"starter", kHash, {{"choice:3-5", 0.8125}, {"noul:2", {}}, {"default", 1}}},
               {"laya", std::string(64, '0'), {}}};
  out.risk = 0.05;
  out.fitted_on = {"cases.jsonl", "float32", 1234, 7};
  return out;
}

TEST(CascadePlan, GoesThereAndBack) {
  const std::string json = print_cascade_plan(plan());
  const auto read = parse_cascade_plan(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, plan());
  EXPECT_NE(json.find("\"noul:2\": null"), std::string::npos) << json;
  EXPECT_TRUE(json.starts_with("{\n \"version\": 1,")) << json;
}

TEST(CascadePlan, WhatItWasFittedOnMayBeAbsent) {
  const auto read = parse_cascade_plan(R"({"version":1,"risk":0.1,"note":"x","chain":[
      {"model":"a","weights_sha256":")" +
                                       kHash +
                                       R"(","thresholds":{"default":0}},
      {"model":"b","weights_sha256":")" +
                                       kHash + R"("}]})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->chain[0].thresholds, (std::vector<CascadeThreshold>{{"default", 0.0}}));
  EXPECT_EQ(read->fitted_on, CascadeFitData{});
}

TEST(CascadePlan, Refusals) {
  const auto check = [](const std::string& json, const std::string& part) {
    const auto read = parse_cascade_plan(json);
    ASSERT_FALSE(read.ok()) << json;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidRequest);
    EXPECT_TRUE(read.error().message.starts_with("cascade file: ")) << read.error().message;
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string json = print_cascade_plan(plan());
    const std::size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return json.replace(at, from.size(), to);
  };
  check("", "is not JSON");
  check("[]", "version must be 1");
  check(R"({"version":2})", "version must be 1");
  check(R"({"version":1})", "chain must be a list of 2 to 8 checkpoints");
  check(R"({"version":1,"chain":[{"model":"a"}]})", "chain must be a list of 2 to 8 checkpoints");
  check(with("\"starter\"", "3"), "chain[0].model must be a model's name");
  check(with(kHash, "aa"), "chain[0].weights_sha256 must be 64");
  check(with("choice:3-5", "choice:4"), R"(chain[0].thresholds."choice:4" is no bucket)");
  check(with("choice:3-5", "noul:3-5"), R"(chain[0].thresholds."noul:3-5" is no bucket)");
  check(with("0.8125", "1.5"), R"(chain[0].thresholds."choice:3-5" must be a number from 0 to 1)");
  check(with("0.8125", "\"1\""), "must be a number from 0 to 1, or null");
  check(with("0.05", "0"), "risk must be between 0 and 1");
  check(with("0.05", "1"), "risk must be between 0 and 1");
  check(with("1234", "-1"), "fitted_on has a questions or seed");
  check(with("\"cases.jsonl\"", "{}"), "fitted_on has a data or dtype");
}

TEST(CascadePlan, Decisions) {
  CascadeDecision sure{"a", 1, "starter", 0.9, 0.8, "fitted_threshold_reached", "choice:3-5", {}};
  CascadeDecision last{
      "b", 2, "laya", 0.6, {}, "last_stage", "", {{"starter", 0.5, 0.8}, {"middle", 0.7, {}}}};
  EXPECT_EQ(print_cascade_decisions(std::vector{sure, last}),
            R"({"a": {"stage": 1, "model": "starter", "confidence": 0.9, "threshold": 0.8, )"
            R"("threshold_of": "choice:3-5", "reason": "fitted_threshold_reached"}, )"
            R"("b": {"stage": 2, "model": "laya", "confidence": 0.6, "threshold": null, )"
            R"("threshold_of": null, "reason": "last_stage", "passed_on": [)"
            R"({"model": "starter", "confidence": 0.5, "threshold": 0.8}, )"
            R"({"model": "middle", "confidence": 0.7, "threshold": null}]}})");
}

}  // namespace
}  // namespace layard
