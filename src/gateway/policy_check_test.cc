#include "gateway/policy_check.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

constexpr std::int64_t kDayS = 86400;

PolicyCheckOptions october() {
  PolicyCheckOptions options;
  options.now_s = *day_number("2026-10-10") * kDayS;
  return options;
}

std::string findings_of(const PolicyCheck& check) {
  std::string out;
  for (const PolicyFinding& finding : check.findings.sorted()) {
    out += finding.severity == PolicySeverity::kError ? "error " : "warning ";
    out += std::to_string(finding.place.line) + ":" + std::to_string(finding.place.column) + " " +
           finding.sentence() + "\n";
  }
  return out;
}

// Lines from 1 on, so that places can be read off.
constexpr const char* kGood = R"({"version": 1, "default": "a",
 "classes": {
  "code": {"device": "a"},
  "short": {"device": "b", "alternates": ["a"], "evidence": "e1"}},
 "devices": {"a": {}, "b": {}},
 "evidence": {
  "e1": {"n": 24, "baseline": "a", "gain_ms": 310, "ci95_ms": [220, 400], "date": "2026-09-28"}}})";

// kGood with one text replaced has exactly these findings.
void check(const std::string& from, const std::string& to, const std::string& expected) {
  std::string text = kGood;
  ASSERT_NE(text.find(from), std::string::npos) << from;
  text.replace(text.find(from), from.size(), to);
  EXPECT_EQ(findings_of(check_policy(text, "p.json", october())), expected) << to;
}

TEST(PolicyCheck, AGoodOne) {
  const PolicyCheck found = check_policy(kGood, "p.json", october());
  EXPECT_EQ(findings_of(found), "");
  EXPECT_EQ(found.policy.version, 1);
  EXPECT_EQ(found.policy.row("short")->evidence, "e1");
  EXPECT_EQ(found.policy.find_evidence("e1")->n, 24);
}

TEST(PolicyCheck, ARowOffTheDefaultNeedsEvidence) {
  check(", \"evidence\": \"e1\"", "",
        "error 4:3 class \"short\" goes to \"b\" and not to the default device \"a\", without "
        "evidence; measure it and name the evidence, or leave it on the default device "
        "(/classes/short)\n"
        "warning 7:3 no row names the evidence \"e1\"; remove it, or name it (/evidence/e1)\n");
  check("\"evidence\": \"e1\"", "\"evidence\": \"e2\"",
        "error 4:61 there is no such evidence, found \"e2\"; add it to \"evidence\" at the top "
        "level (/classes/short/evidence)\n"
        "warning 7:3 no row names the evidence \"e1\"; remove it, or name it (/evidence/e1)\n");
  // The gate's row is no exception.
  check("\"code\": {\"device\": \"a\"}", "\"long_doc\": {\"device\": \"b\"}",
        "error 3:3 class \"long_doc\" goes to \"b\" and not to the default device \"a\", without "
        "evidence; measure it and name the evidence, or leave it on the default device "
        "(/classes/long_doc)\n");
}

TEST(PolicyCheck, EvidenceMustCarryTheRow) {
  check("[220, 400]", "[20, 400]",
        "error 7:63 the evidence of class \"short\" shows a gain of at least 20.0 ms only, and a "
        "move needs more than 30.0, found [20, 400]; leave the row on the default device, or "
        "measure more requests (/evidence/e1/ci95_ms)\n");
  check("\"baseline\": \"a\"", "\"baseline\": \"c\"",
        "error 7:31 the evidence of class \"short\" was measured for baseline \"c\", the default "
        "device is \"a\", found \"c\"; measure again, or leave the row on the default device "
        "(/evidence/e1/baseline)\n");
  check("2026-09-28", "2025-09-28",
        "warning 7:83 the evidence of class \"short\" is 377 days old, more than 180; measure "
        "again: drivers, models and servers have changed (/evidence/e1/date)\n");
  check("\"n\": 24", "\"n\": 3",
        "warning 7:15 the evidence of class \"short\" rests on 3 requests, fewer than 24; "
        "measure more (/evidence/e1/n)\n");
}

TEST(PolicyCheck, EvidenceOfAnotherProfile) {
  std::string text = kGood;
  text.replace(text.find("\"n\": 24"), 7, "\"profile\": \"desk\", \"n\": 24");
  PolicyCheckOptions options = october();
  EXPECT_EQ(check_policy(text, "p.json", options).findings.errors(), 0U);
  options.profile = "rack";
  const PolicyCheck found = check_policy(text, "p.json", options);
  EXPECT_EQ(found.findings.errors(), 1U);
  EXPECT_NE(findings_of(found).find("this is \"rack\""), std::string::npos);
}

// Rows of one policy are measured on one machine.
TEST(PolicyCheck, EvidenceThatDisagreesAmongItself) {
  std::string text = kGood;
  text.replace(text.find("\"n\": 24"), 7, "\"profile\": \"desk\", \"n\": 24");
  text.replace(text.find("\"code\": {\"device\": \"a\"}"), 23,
               "\"code\": {\"device\": \"b\", \"evidence\": \"e2\"}");
  text.replace(text.find("  \"e1\""), 6,
               "\"e2\": {\"profile\": \"rack\", \"n\": 24, \"baseline\": \"a\", \"gain_ms\": 310, "
               "\"ci95_ms\": [220, 400], \"date\": \"2026-09-28\"},\n  \"e1\"");
  const PolicyCheck found = check_policy(text, "p.json", october());
  EXPECT_EQ(found.findings.errors(), 1U) << findings_of(found);
  EXPECT_NE(findings_of(found).find("(/evidence/e1/profile)"), std::string::npos);
}

TEST(PolicyCheck, NamesThatThereAreNot) {
  check("\"alternates\": [\"a\"]", "\"alternates\": [\"a\", \"c\", \"a\"]",
        "error 4:48 \"devices\" has no such device, found \"c\"; add it there, or name one of a, b "
        "(/classes/short/alternates/1)\n"
        "warning 4:53 the alternate \"a\" is tried before already; remove it "
        "(/classes/short/alternates/2)\n");
  check("\"default\": \"a\"", "\"default\": \"z\"",
        "error 1:27 \"devices\" has no such device, found \"z\"; add it there, or name one of a, b "
        "(/default)\n"
        "error 3:3 class \"code\" goes to \"a\" and not to the default device \"z\", without "
        "evidence; measure it and name the evidence, or leave it on the default device "
        "(/classes/code)\n"
        "error 7:31 the evidence of class \"short\" was measured for baseline \"a\", the default "
        "device is \"z\", found \"a\"; measure again, or leave the row on the default device "
        "(/evidence/e1/baseline)\n");
  check("\"code\": {", "\"cod\": {",
        "error 3:3 unknown class \"cod\" (the classes are code, prose, short, long_doc); did you "
        "mean \"code\"? (/classes/cod)\n");
  check("\"b\": {}", "\"b\": {}, \"c\": {}",
        "warning 5:32 no row and no default names the device \"c\"; remove it, or name it "
        "(/devices/c)\n");
}

TEST(PolicyCheck, NamesThatStandTwice) {
  check("\"devices\": {\"a\": {},", "\"devices\": {\"a\": {}, \"a\": {},",
        "error 5:23 the name \"a\" stands here again; only the last one counts: keep one "
        "(/devices/a)\n");
}

// A file of the 1bit router works as it is: what it lacks are warnings.
TEST(PolicyCheck, WithoutVersion) {
  const PolicyCheck found = check_policy(
      R"({"default": "hrx", "default": "hrx", "classes": {
 "code": {"device": "hrx"}, "long_doc": {"device": "rocm", "alternates": ["nowhere"]}}})",
      "p.json", october());
  EXPECT_EQ(findings_of(found),
            "warning 1:20 the name \"default\" stands here again; only the last one counts: keep "
            "one (/default)\n"
            "warning 2:29 class \"long_doc\" goes to \"rocm\" and not to the default device "
            "\"hrx\", without evidence; measure it; a file with \"version\": 1 can name the "
            "evidence (/classes/long_doc)\n");
  EXPECT_EQ(
      check_policy(R"({"classes": {"poem": {"device": "a"}}})", "p", october()).findings.errors(),
      1U);
}

TEST(PolicyCheck, YamlIsCheckedTheSame) {
  const PolicyCheck found = check_policy(
      "version: 1\ndefault: a\nclasses:\n  no: {device: b}\n  short:\n    device: off\n", "p.yaml",
      october());
  EXPECT_EQ(findings_of(found),
            "error 4:3 unknown class \"no\" (the classes are code, prose, short, long_doc); no "
            "request is of it: remove the row, or add it to question.options (/classes/no)\n"
            "error 4:3 class \"no\" goes to \"b\" and not to the default device \"a\", without "
            "evidence; measure it and name the evidence, or leave it on the default device "
            "(/classes/no)\n"
            "error 5:3 class \"short\" goes to \"off\" and not to the default device \"a\", "
            "without evidence; measure it and name the evidence, or leave it on the default "
            "device (/classes/short)\n");
}

}  // namespace
}  // namespace layard::gateway
