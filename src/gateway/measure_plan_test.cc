#include "gateway/measure_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"

namespace layard::gateway {
namespace {

std::vector<RouteCase> cases_of(std::initializer_list<std::pair<const char*, int>> counts) {
  std::vector<RouteCase> out;
  for (const auto& [name, count] : counts) {
    for (int i = 0; i < count; ++i) {
      out.push_back({name, std::string(name) + " text é " + std::to_string(i), "", ""});
    }
  }
  return out;
}

std::vector<std::string> ids_of(const MeasurePlan& plan) {
  std::vector<std::string> out;
  for (const MeasurePrompt& prompt : plan.prompts) out.push_back(prompt.id);
  return out;
}

TEST(MeasurePlan, CasesAreSpreadAndClassesTakeTurns) {
  MeasurePlanOptions options;
  options.per_class = 3;
  options.prompt_lengths = {64};
  options.class_max_tokens["short"] = 16;
  const auto plan = plan_measurement(cases_of({{"code", 9}, {"short", 2}}), options);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(ids_of(*plan), (std::vector<std::string>{"control", "code-1", "short-10", "code-4",
                                                     "short-11", "code-7", "length-64-1"}));
  EXPECT_EQ(plan->prompts[1].max_tokens, 256);
  EXPECT_EQ(plan->prompts[2].max_tokens, 16);
  EXPECT_EQ(plan->prompts.back().max_tokens, 1);
  EXPECT_EQ(plan->cases.size(), 5U);
  EXPECT_EQ(plan->cases[0].chars, 13);  // code points
  EXPECT_EQ(std::ranges::count(plan->prompts.back().text, ' '), 63);
}

TEST(MeasurePlan, DevicesTakeTurnsABBA) {
  MeasurePlanOptions options;
  options.prompt_lengths.clear();
  const auto plan = plan_measurement(cases_of({{"code", 2}}), options);
  const auto order = [&](int round) {
    std::string out;
    for (const MeasureStep& step : round_steps(*plan, 2, round)) {
      const std::string device = step.device == 0 ? "A" : "B";
      out += (step.recorded ? "" : "w") + device + std::to_string(step.prompt) + " ";
    }
    return out;
  };
  EXPECT_EQ(order(1), "wA0 wB0 B0 A0 A0 B0 B0 A0 A1 B1 B2 A2 A0 B0 B0 A0 A0 B0 ");
  EXPECT_EQ(order(2), "wB0 wA0 A0 B0 B0 A0 A0 B0 B1 A1 A2 B2 B0 A0 A0 B0 B0 A0 ");
}

TEST(MeasurePlan, TheBody) {
  const MeasurePrompt prompt{MeasuredKind::kCase, "code-1", "code", "say \"é\"", 16};
  const auto body = base::parse_json(chat_body(prompt, 2, "chat", 7), {});
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(write_json(*body, base::JsonStyle::kCompact),
            R"({"model":"chat","messages":[{"role":"user","content":"[2] say \"é\""}],)"
            R"("max_tokens":16,"temperature":0,"seed":7,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
  EXPECT_NE(chat_body(prompt, 2, "", 7).find("\"model\":\"default\""), std::string::npos);
}

TEST(MeasurePlan, DriftIsOfMedians) {
  std::vector<MeasuredRequest> requests;
  const auto add = [&](const char* device, std::initializer_list<double> times) {
    for (const double time : times) {
      MeasuredRequest request;
      request.kind = MeasuredKind::kControl;
      request.device = device;
      request.total_ms = time;
      requests.push_back(request);
    }
  };
  EXPECT_EQ(control_drift(requests, "a"), 0);
  add("a", {100, 900, 100});
  add("b", {1, 2, 3});
  requests.push_back({});  // no control
  add("a", {104, 104, 1});
  EXPECT_NEAR(control_drift(requests, "a"), 0.04, 1e-12);
  EXPECT_EQ(control_drift(requests, "b"), 0);
}

TEST(MeasurePlan, WhatCannotBeMeasuredIsRefused) {
  const auto cases = cases_of({{"code", 2}});
  EXPECT_FALSE(plan_measurement({}, {}).ok());
  for (const MeasurePlanOptions& options :
       {MeasurePlanOptions{.per_class = 0}, MeasurePlanOptions{.prompt_lengths = {0}},
        MeasurePlanOptions{.prompt_lengths = std::vector<std::int64_t>(33, 1)},
        MeasurePlanOptions{.max_tokens = 1}, MeasurePlanOptions{.max_tokens = 65'537},
        MeasurePlanOptions{.class_max_tokens = {{"poem", 16}}},
        MeasurePlanOptions{.class_max_tokens = {{"code", 0}}}}) {
    EXPECT_FALSE(plan_measurement(cases, options).ok());
  }
}

}  // namespace
}  // namespace layard::gateway
