#include "gateway/policy_evidence.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

constexpr std::int64_t kDayS = 86400;

TEST(PolicyEvidence, Days) {
  EXPECT_EQ(day_number("1970-01-01"), 0);
  EXPECT_EQ(day_number("1970-01-02"), 1);
  EXPECT_EQ(day_number("2000-02-29"), 11016);
  EXPECT_EQ(day_number("1969-12-31"), -1);
  for (const char* none : {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-01",
                           "2026/01/01", "20260101", "2026-01-0x", "-026-01-01"}) {
    EXPECT_EQ(day_number(none), std::nullopt) << none;
  }
}

TEST(PolicyEvidence, Age) {
  EXPECT_EQ(evidence_age_days("1970-01-01", 0), 0);
  EXPECT_EQ(evidence_age_days("1970-01-01", kDayS - 1), 0);
  EXPECT_EQ(evidence_age_days("1970-01-01", kDayS), 1);
  EXPECT_EQ(evidence_age_days("1970-01-03", kDayS), -1);
  EXPECT_EQ(evidence_age_days("1969-12-31", -1), 0);
  EXPECT_EQ(evidence_age_days("no date", 0), std::nullopt);
}

PolicyEvidence good() {
  PolicyEvidence out;
  out.n = 24;
  out.baseline = "a";
  out.gain_ms = 300;
  out.low_ms = 200;
  out.high_ms = 400;
  out.date = "2026-09-28";
  return out;
}

EvidenceUse used() {
  EvidenceUse use;
  use.class_name = "code";
  use.device = "b";
  use.baseline = "a";
  use.now_s = (*day_number("2026-10-10")) * kDayS;
  return use;
}

// `change` makes the good evidence one that has exactly this fault.
template <class Change>
void check(Change change, const std::string& member, bool is_error, const std::string& part) {
  PolicyEvidence evidence = good();
  change(evidence);
  const auto faults = evidence_faults(evidence, used());
  ASSERT_EQ(faults.size(), 1U) << part;
  EXPECT_EQ(faults[0].member, member);
  EXPECT_EQ(faults[0].is_error, is_error) << part;
  EXPECT_NE(faults[0].what.find(part), std::string::npos) << faults[0].what;
  EXPECT_FALSE(faults[0].fix.empty());
}

TEST(PolicyEvidence, WhatSpeaksAgainstIt) {
  EXPECT_TRUE(evidence_faults(good(), used()).empty());
  check([](auto& e) { e.baseline = "c"; }, "baseline", true, "the default device is \"a\"");
  check([](auto& e) { e.class_name = "prose"; }, "class", true, "the row is of \"code\"");
  check([](auto& e) { e.device = "c"; }, "device", true, "the row goes to \"b\"");
  check([](auto& e) { e.low_ms = 500; }, "ci95_ms", true, "lower end is the larger one");
  check([](auto& e) { e.gain_ms = 401; }, "gain_ms", true, "outside of its own interval");
  check([](auto& e) { e.low_ms = 30; }, "ci95_ms", true, "more than 30");
  check([](auto& e) { e.low_ms = -5; }, "ci95_ms", true, "at least -5.0 ms only");
  check([](auto& e) { e.date = "2026-02-30"; }, "date", true, "no calendar");
  check([](auto& e) { e.date = "2026-10-12"; }, "date", true, "2 days from now");
  check([](auto& e) { e.date = "2026-04-12"; }, "date", false, "181 days old, more than 180");
  check([](auto& e) { e.n = 23; }, "n", false, "23 requests, fewer than 24");
}

TEST(PolicyEvidence, WhatIsJustGood) {
  for (const char* date : {"2026-10-11", "2026-10-10", "2026-04-13"}) {
    PolicyEvidence evidence = good();
    evidence.date = date;
    EXPECT_TRUE(evidence_faults(evidence, used()).empty()) << date;
  }
  PolicyEvidence small = good();
  small.low_ms = 30.1;
  small.gain_ms = 30.1;
  EXPECT_TRUE(evidence_faults(small, used()).empty());
}

TEST(PolicyEvidence, OfAnotherMachineOrModel) {
  PolicyEvidence evidence = good();
  evidence.profile = "desk";
  evidence.model_sha256 = std::string(64, 'a');
  EvidenceUse use = used();
  EXPECT_TRUE(evidence_faults(evidence, use).empty());
  use.profile = "rack";
  use.model_sha256 = std::string(64, 'b');
  const auto faults = evidence_faults(evidence, use);
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_STREQ(faults[0].member, "profile");
  EXPECT_STREQ(faults[1].member, "model_sha256");
  EXPECT_TRUE(faults[0].is_error && faults[1].is_error);
}

}  // namespace
}  // namespace layard::gateway
