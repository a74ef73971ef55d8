#include "gateway/route_traffic.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

MeasuredEvidence evidence_of(std::initializer_list<const char*> classes) {
  MeasuredEvidence out;
  for (const char* name : classes) out.cases.push_back({name, name, 1});
  return out;
}

LoggedDecisions log_of(std::initializer_list<std::pair<const char*, int>> counts) {
  LoggedDecisions out;
  for (const auto& [name, count] : counts) {
    for (int i = 0; i < count; ++i) out.decisions.push_back({name, true, 10.0 + i, {}, {}, {}});
  }
  return out;
}

TEST(RouteTraffic, WithoutALogTheCasesCount) {
  const RouteTraffic traffic = case_traffic(evidence_of({"short", "code", "short", "short"}));
  ASSERT_EQ(traffic.classes.size(), 2U);
  EXPECT_DOUBLE_EQ(traffic.find("short")->share, 0.75);
  EXPECT_EQ(traffic.classes[1].class_name, "code");
  EXPECT_EQ(traffic.decision_ms, std::nullopt);
  EXPECT_EQ(traffic.turns, 1);
  EXPECT_EQ(traffic.find("prose"), nullptr);
  EXPECT_TRUE(case_traffic(evidence_of({})).classes.empty());
  const RouteTraffic same =
      logged_traffic(evidence_of({"short", "code"}), log_of({{"poem", 3}}), {});
  EXPECT_EQ(same.decisions, 0U);
  EXPECT_EQ(same.others, 3U);
  EXPECT_DOUBLE_EQ(same.classes[0].share, 0.5);
}

TEST(RouteTraffic, TheLogSaysSharesSizesAndTimes) {
  LoggedDecisions log = log_of({{"short", 3}, {"code", 1}});
  log.decisions[0].prompt_tokens = 10;
  log.decisions[0].output_tokens = 4;
  log.decisions[1].prompt_tokens = 30;
  log.decisions[1].cached_tokens = 8;
  log.decisions[0].turns = 2;
  log.decisions[1].turns = 5;
  log.decisions[2].asked = false;
  const RouteTraffic traffic = logged_traffic(evidence_of({"short", "code"}), log, {});
  EXPECT_NEAR(traffic.find("short")->share, 0.75, 1e-12);
  EXPECT_EQ(traffic.find("short")->size->prompt_tokens, 20);
  EXPECT_EQ(traffic.find("short")->size->cached_tokens, 4);
  EXPECT_EQ(traffic.find("short")->size->output_tokens, 4);
  EXPECT_FALSE(traffic.find("code")->size.has_value());
  EXPECT_EQ(traffic.decision_ms, 10);  // of 10, 11 and 10
  EXPECT_EQ(traffic.turns, 3.5);
  EXPECT_EQ(traffic.decisions, 4U);
}

// 100 prose of which 18 are read as short, and 50 short: the log shows 82 and 68.
TEST(RouteTraffic, WhatRequestsWereFollowsFromTheConfusion) {
  Confusion confusion;
  confusion.rows = {{"prose", {{"prose", 41}, {"short", 9}}}, {"short", {{"short", 50}}}};
  const RouteTraffic traffic = logged_traffic(evidence_of({"prose", "short"}),
                                              log_of({{"prose", 82}, {"short", 68}}), confusion);
  EXPECT_NEAR(traffic.find("prose")->share, 2.0 / 3, 1e-6);
  EXPECT_NEAR(traffic.find("short")->share, 1.0 / 3, 1e-6);
  // An answer that should never be.
  confusion.rows = {{"prose", {{"prose", 1}}}, {"short", {{"prose", 1}}}};
  const RouteTraffic odd =
      logged_traffic(evidence_of({"prose", "short"}), log_of({{"short", 10}}), confusion);
  EXPECT_NEAR(odd.find("short")->share, 1, 1e-6);
}

}  // namespace
}  // namespace layard::gateway
