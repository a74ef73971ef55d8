#include "gateway/policy_report.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

const std::int64_t kNow = *day_number("2026-10-10") * 86400;

PolicyCheck checked(std::string_view text) {
  PolicyCheckOptions options;
  options.now_s = kNow;
  return check_policy(text, "p.json", options);
}

constexpr const char* kFile = R"({"version": 1, "default": "a", "min_confidence": 0.16,
 "classes": {"code": {"device": "a", "why": "decodes\nfastest"},
  "short": {"device": "b", "evidence": "e1"}},
 "evidence": {"e1": {"n": 24, "baseline": "a", "gain_ms": 310, "ci95_ms": [220, 400],
  "date": "2026-09-28"}}})";

TEST(PolicyReport, Table) {
  EXPECT_EQ(policy_table(checked(kFile), "p.json", kNow),
            "p.json: ok, version 1, default a, threshold 0.16 of confidence\n"
            "class     device  why                  evidence\n"
            "code      a       decodes fastest      not needed\n"
            "prose     a       no row: the default  not needed\n"
            "short     b       -                    12 days\n"
            "long_doc  a       no row: the default  not needed\n");
  const std::string onebit =
      policy_table(checked(R"({"default": "a", "classes": {"code": {"device": "b", "why": ")" +
                           std::string(100, 'x') + "\"}}}"),
                   "q", kNow);
  EXPECT_TRUE(onebit.starts_with("q: ok, without version (1bit), default a, threshold 0.0 of"))
      << onebit;
  EXPECT_NE(onebit.find("b       " + std::string(47, 'x') + "…  none\n"), std::string::npos)
      << onebit;
}

TEST(PolicyReport, Lines) {
  const PolicyCheck found = checked("{\"classes\": {\"x\": {}},\n \"default\": 1}");
  EXPECT_EQ(finding_counts(found.findings), "3 errors, 0 warnings");
  const auto lines = finding_lines(found.findings, "p.json");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("p.json:1:14: error: unknown class \"x\"")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("p.json:1:19: error: class \"x\" needs a \"device\""))
      << lines[1];
  EXPECT_TRUE(lines[2].starts_with("p.json:2:13: error: \"default\" must be a text")) << lines[2];
  PolicyFindings many;
  for (std::size_t i = 0; i < PolicyFindings::kMax + 3; ++i) many.add({});
  EXPECT_EQ(finding_lines(many, "f").back(), "f: and 3 more");
}

TEST(PolicyReport, Json) {
  const auto good = base::parse_json(policy_check_json(checked(kFile), "p.json", false, kNow), {});
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good->find("valid")->as_bool());
  EXPECT_EQ(good->find("version")->text(), "1");
  EXPECT_EQ(good->find("classes")->items()[2].find("evidence")->find("age_days")->text(), "12");
  const PolicyCheck warned = checked(R"({"classes": {"code": {"device": "b"}}})");
  for (const bool strict : {false, true}) {
    const auto json = base::parse_json(policy_check_json(warned, "q", strict, kNow), {});
    EXPECT_EQ(json->find("valid")->as_bool(), !strict);
    EXPECT_EQ(json->find("warnings")->text(), "1");
    EXPECT_TRUE(json->find("version")->is_null());
    const base::JsonValue& finding = json->find("findings")->items()[0];
    EXPECT_EQ(finding.find("severity")->text(), "warning");
    EXPECT_EQ(finding.find("kind")->text(), "meaning");
    EXPECT_EQ(finding.find("pointer")->text(), "/classes/code");
    EXPECT_EQ(finding.find("column")->text(), "14");
  }
  const auto bad = base::parse_json(policy_check_json(checked("{"), "q", false, kNow), {});
  EXPECT_FALSE(bad->find("valid")->as_bool());
  EXPECT_EQ(bad->find("classes"), nullptr);
  EXPECT_EQ(bad->find("findings")->items()[0].find("kind")->text(), "syntax");
}

TEST(PolicyReport, SchemaIsThePublishedOne) {
  const auto schema = base::parse_json(policy_schema(), {});
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->find("$schema")->text(), "https://json-schema.org/draft/2020-12/schema");
}

}  // namespace
}  // namespace layard::gateway
