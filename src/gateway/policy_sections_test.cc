#include "gateway/policy_sections.h"

#include <gtest/gtest.h>

#include "gateway/policy_reader.h"

namespace layard::gateway {
namespace {

struct Read {
  RoutePolicy policy;
  std::vector<std::string> pointers;  // of the findings
  std::string sentences;
};

Read read(const std::string& members) {
  PolicyFindings findings;
  const auto text = read_policy_text(
      R"({"version": 1, "default": "a", "classes": {}, )" + members + "}", "p.json", findings);
  if (!text.has_value()) return {};
  Read out{read_policy(*text, findings), {}, {}};
  for (const PolicyFinding& finding : findings.all()) {
    out.pointers.push_back(finding.pointer);
    out.sentences += finding.sentence() + "\n";
  }
  return out;
}

void check_refused(const std::string& members, const std::vector<std::string>& pointers) {
  const Read found = read(members);
  EXPECT_EQ(found.pointers, pointers) << found.sentences;
}

TEST(PolicySections, Decide) {
  const Read found = read(
      R"("decide": {"when": "shadow", "timeout_ms": 250, "on_error": "default",
                     "max_chars": 4096})");
  EXPECT_EQ(found.sentences, "");
  EXPECT_EQ(found.policy.decide.when, DecideWhen::kShadow);
  EXPECT_EQ(found.policy.decide.timeout_ms, 250);
  EXPECT_EQ(found.policy.decide.max_chars, 4096);
  EXPECT_EQ(read(R"("decide": {})").policy.decide.when, DecideWhen::kAlways);
  check_refused(
      R"("decide": {"when": "never", "timeout_ms": 0, "on_error": "fail", "max_chars": "9",
                     "x": 1})",
      {"/decide/x", "/decide/when", "/decide/on_error", "/decide/timeout_ms", "/decide/max_chars"});
  check_refused(R"("decide": "always")", {"/decide"});
  check_refused(R"("decide": null)", {"/decide"});
}

TEST(PolicySections, Sticky) {
  const Read found = read(R"("sticky": {"ttl_s": 60, "max_entries": 10, "headers": ["x-id"]})");
  EXPECT_EQ(found.sentences, "");
  EXPECT_EQ(found.policy.sticky.ttl_s, 60);
  EXPECT_EQ(found.policy.sticky.max_entries, 10);
  EXPECT_EQ(found.policy.sticky.headers, std::vector<std::string>{"x-id"});
  EXPECT_EQ(read("\"sticky\": {}").policy.sticky.max_entries, 65536);
  check_refused(R"("sticky": {"ttl_s": -1, "max_entries": 1e9, "headers": ["a b", 1]})",
                {"/sticky/ttl_s", "/sticky/max_entries", "/sticky/headers/0", "/sticky/headers/1"});
}

TEST(PolicySections, Devices) {
  const Read found = read(R"("devices": {"a": {"url": "http://127.0.0.1:9001", "model": "m",
    "capabilities": ["tools", "images"], "connect_ms": 5, "first_byte_ms": 0, "idle_ms": 7,
    "requests_max": 2, "queue_max": 3}, "b": {}})");
  EXPECT_EQ(found.sentences, "");
  ASSERT_EQ(found.policy.servers.size(), 2U);
  const PolicyDevice& first = found.policy.servers[0];
  EXPECT_EQ(first.name, "a");
  EXPECT_EQ(first.url, "http://127.0.0.1:9001");
  EXPECT_EQ(first.capabilities.size(), 2U);
  EXPECT_EQ(first.connect_ms, 5);
  EXPECT_EQ(first.queue_max, 3);
  EXPECT_EQ(found.policy.servers[1].idle_ms, 600000);
  check_refused(R"("devices": {"a": {"url": "127.0.0.1", "port": 1}, "b c": {}, "d": 1})",
                {"/devices/a/port", "/devices/a/url", "/devices/b c", "/devices/d"});
  check_refused(R"("devices": [])", {"/devices"});
}

TEST(PolicySections, ModelNamesAndAlternates) {
  const Read found = read(R"("model_names": ["assistant", "*"], "alternates_on_error": false)");
  EXPECT_EQ(found.sentences, "");
  EXPECT_EQ(found.policy.model_names, (std::vector<std::string>{"assistant", "*"}));
  EXPECT_FALSE(found.policy.alternates_on_error);
  EXPECT_TRUE(read(R"("sticky": {})").policy.alternates_on_error);
  check_refused(R"("model_names": ["", "a\u0001", "b\u007f", 1], "alternates_on_error": "no")",
                {"/model_names/0", "/model_names/1", "/model_names/2", "/model_names/3",
                 "/alternates_on_error"});
  check_refused(R"("model_names": "assistant")", {"/model_names"});
  check_refused(R"("model_names": [")" + std::string(257, 'a') + "\"]", {"/model_names/0"});
}

TEST(PolicySections, Evidence) {
  const Read found =
      read(R"("evidence": {"e": {"profile": "p", "model_sha256": ")" + std::string(64, 'a') +
           R"(", "class": "code", "device": "b", "n": 24, "baseline": "a",
    "gain_ms": 310, "ci95_ms": [220.5, 400], "file": "f.json", "date": "2026-09-28"}})");
  EXPECT_EQ(found.sentences, "");
  ASSERT_EQ(found.policy.evidence.size(), 1U);
  const PolicyEvidence& first = found.policy.evidence[0];
  EXPECT_EQ(first.name, "e");
  EXPECT_EQ(first.n, 24);
  EXPECT_EQ(first.class_name, "code");
  EXPECT_DOUBLE_EQ(first.low_ms, 220.5);
  EXPECT_DOUBLE_EQ(first.high_ms, 400);
  EXPECT_EQ(first.date, "2026-09-28");
  check_refused(R"("evidence": {"e": {}})",
                {"/evidence/e", "/evidence/e", "/evidence/e", "/evidence/e", "/evidence/e"});
  check_refused(R"("evidence": {"e": {"n": 0, "baseline": "a", "gain_ms": "1",
    "ci95_ms": [1], "date": "28.9.2026", "model_sha256": "ABC"}})",
                {"/evidence/e/n", "/evidence/e/gain_ms", "/evidence/e/ci95_ms",
                 "/evidence/e/model_sha256", "/evidence/e/date"});
  check_refused(R"("evidence": {"e": {"n": 1, "baseline": "a", "gain_ms": 1,
    "ci95_ms": [1, "2"], "date": "2026-9-28"}})",
                {"/evidence/e/ci95_ms", "/evidence/e/date"});
}

TEST(PolicySections, EntriesAreBounded) {
  std::string many;
  for (int i = 0; i < 257; ++i) many += (i > 0 ? ", \"d" : "\"d") + std::to_string(i) + "\": {}";
  check_refused("\"devices\": {" + many + "}", {"/devices"});
}

}  // namespace
}  // namespace layard::gateway
