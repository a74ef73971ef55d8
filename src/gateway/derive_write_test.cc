#include "gateway/derive_write.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "gateway/policy_check.h"
#include "support/simulated_fleet.h"

namespace layard::gateway {
namespace {

using layard::testing::SimulatedFleet;

// Short replies decode twice as fast on `b`.
SimulatedFleet fleet_of_two() {
  SimulatedFleet fleet;
  fleet.devices = {{"a", 80, 300, {20, 20, 20, 20}}, {"b", 80, 300, {20, 20, 60, 20}}};
  return fleet;
}

struct Written {
  std::string text;
  base::JsonValue root;
};

Written written(const MeasuredEvidence& evidence, std::string_view base_text) {
  DeriveBase base;
  if (!base_text.empty()) {
    auto read = read_derive_base(base_text, "base.json");
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    if (read.ok()) base = *std::move(read);
  }
  const DeriveOptions options{.evidence_file = "e.json", .decision_ms = 10};
  const auto found = derive_policy(evidence, base.policy, {}, std::nullopt, options);
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
  const auto text = write_derived_policy(*found, evidence, base, options);
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
  if (!text.ok()) return {};
  return {*text, *base::parse_json(*text, {})};
}

const base::JsonValue& at(const base::JsonValue& root, std::initializer_list<const char*> names) {
  const base::JsonValue* here = &root;
  for (const char* name : names) {
    here = here->find(name);
    if (here == nullptr) {
      ADD_FAILURE() << "no " << name;
      return root;
    }
  }
  return *here;
}

TEST(DeriveWrite, WithoutABase) {
  const Written policy = written(fleet_of_two().evidence(), "");
  EXPECT_EQ(at(policy.root, {"classes", "short", "device"}).text(), "b");
  EXPECT_EQ(at(policy.root, {"classes", "code", "device"}).text(), "a");
  EXPECT_EQ(at(policy.root, {"default"}).text(), "a");
  EXPECT_EQ(at(policy.root, {"decide", "when"}).text(), "useful");
  EXPECT_EQ(at(policy.root, {"devices", "b", "url"}).text(), "http://127.0.0.1:9001");
  const std::string& name = at(policy.root, {"classes", "short", "evidence"}).text();
  EXPECT_EQ(at(policy.root, {"evidence", name.c_str(), "file"}).text(), "e.json");
  EXPECT_EQ(at(policy.root, {"evidence", name.c_str(), "n"}).as_int64(), 24);
  const auto check = check_policy(policy.text, "p.json", {"", "", 1'795'600'000, 180});
  EXPECT_EQ(check.findings.errors(), 0U);
  EXPECT_EQ(check.findings.warnings(), 0U);
}

TEST(DeriveWrite, TheBaseIsKept) {
  const Written policy =
      written(fleet_of_two().evidence(),
              R"({"version": 1, "about": "ours", "default": "a", "min_confidence": 0.3,
          "sticky": {"ttl_s": 60}, "decide": {"when": "always", "timeout_ms": 250},
          "classes": {"code": {"device": "b", "alternates": ["a", "b"], "evidence": "old"}},
          "devices": {"a": {"url": "http://127.0.0.1:1", "queue_max": 3}, "b": {"model": "m"}},
          "evidence": {"old": {"n": 30, "baseline": "a", "gain_ms": 99, "ci95_ms": [90, 120],
                               "date": "2026-01-01"}},
          "x-team": {"own": [1]}})");
  EXPECT_EQ(at(policy.root, {"about"}).text(), "ours");
  EXPECT_EQ(at(policy.root, {"min_confidence"}).text(), "0.3");
  EXPECT_EQ(at(policy.root, {"sticky", "ttl_s"}).as_int64(), 60);
  EXPECT_EQ(at(policy.root, {"decide", "timeout_ms"}).as_int64(), 250);
  EXPECT_EQ(at(policy.root, {"decide", "when"}).text(), "useful");
  EXPECT_EQ(at(policy.root, {"x-team", "own"}).size(), 1U);
  EXPECT_EQ(at(policy.root, {"devices", "a", "queue_max"}).as_int64(), 3);
  EXPECT_EQ(at(policy.root, {"devices", "b"}).find("url"), nullptr);
  EXPECT_EQ(at(policy.root, {"classes", "code", "device"}).text(), "a");
  EXPECT_EQ(at(policy.root, {"classes", "code", "alternates"}).size(), 1U);
  EXPECT_EQ(at(policy.root, {"evidence"}).find("old"), nullptr);
}

// A class that nobody measured stays where evidence of its own has it, and only there.
TEST(DeriveWrite, RowsThatWereNotMeasured) {
  MeasuredEvidence evidence = fleet_of_two().evidence();
  std::erase_if(evidence.cases, [](const auto& one) { return one.class_name == "code"; });
  std::erase_if(evidence.requests, [](const auto& one) { return one.class_name == "code"; });
  const std::string base =
      R"({"version": 1, "default": "BASELINE", "classes": {"code": {"device": "c",
          "evidence": "old"}},
          "evidence": {"old": {"n": 30, "baseline": "BASELINE", "gain_ms": 99,
                               "ci95_ms": [90, 120], "date": "2026-01-01"}}})";
  const auto with = [&](const std::string& baseline) {
    std::string text = base;
    for (std::size_t at = text.find("BASELINE"); at != text.npos; at = text.find("BASELINE")) {
      text.replace(at, 8, baseline);
    }
    return written(evidence, text);
  };
  const Written kept = with("a");
  EXPECT_EQ(at(kept.root, {"classes", "code", "device"}).text(), "c");
  EXPECT_EQ(at(kept.root, {"evidence", "old", "n"}).as_int64(), 30);
  const Written other = with("d");  // which was not measured: the first device is the default
  EXPECT_EQ(at(other.root, {"classes", "code", "device"}).text(), "a");
  EXPECT_EQ(at(other.root, {"evidence"}).find("old"), nullptr);
}

TEST(DeriveWrite, AFileOfTheOtherRouterBecomesVersionOne) {
  const Written policy =
      written(fleet_of_two().evidence(),
              R"({"about": "x", "default": "b", "min_confidence": 0.2, "comment": 1,
          "classes": {"short": {"device": "a", "note": "y", "why": "z"}}})");
  EXPECT_EQ(at(policy.root, {"version"}).as_int64(), 1);
  EXPECT_EQ(policy.root.find("comment"), nullptr);
  EXPECT_EQ(at(policy.root, {"classes", "short"}).find("note"), nullptr);
  EXPECT_EQ(at(policy.root, {"classes", "short", "device"}).text(), "b");
  EXPECT_EQ(at(policy.root, {"default"}).text(), "b");
}

TEST(DeriveWrite, WhatWouldNotPassTheCheckIsNotWritten) {
  MeasuredEvidence evidence = fleet_of_two().evidence();
  for (auto& device : evidence.devices) device.name += " 1";
  for (auto& request : evidence.requests) request.device += " 1";
  const DeriveOptions options;
  const auto found = derive_policy(evidence, RoutePolicy::built_in(), {}, std::nullopt, options);
  ASSERT_TRUE(found.ok());
  const auto text = write_derived_policy(*found, evidence, {}, options);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("route check"), std::string::npos);
  EXPECT_FALSE(read_derive_base("{", "base.json").ok());
}

}  // namespace
}  // namespace layard::gateway
