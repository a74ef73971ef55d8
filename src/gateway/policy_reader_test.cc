#include "gateway/policy_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace layard::gateway {
namespace {

struct Read {
  RoutePolicy policy;
  std::string findings;  // `error SENTENCE` or `warning SENTENCE`, a line each
};

Read read(std::string_view json) {
  PolicyFindings findings;
  const auto text = read_policy_text(json, "p.json", findings);
  if (!text.has_value()) return {};
  Read out{read_policy(*text, findings), ""};
  for (const PolicyFinding& finding : findings.all()) {
    const bool error = finding.severity == PolicySeverity::kError;
    out.findings += (error ? "error " : "warning ") + finding.sentence() + "\n";
  }
  return out;
}

// Every finding is of one member: `json` put into a whole policy.
void check(std::string_view members, const std::string& expected) {
  const std::string json =
      R"({"version": 1, "default": "a", "classes": {}, )" + std::string(members) + "}";
  EXPECT_EQ(read(json).findings, expected) << members;
}

TEST(PolicyReader, AllErrorsAtOnce) {
  const Read found = read(R"({"version": 1, "min_confidence": 2, "gate_on": "luck",
    "size_gate": {"min": 0, "unit": "tokens", "scope": "last", "colour": 1},
    "question": {"options": {"a b": "x", "c": 3}, "instructions": ""},
    "classes": {"code": {}, "prose": {"device": "", "alternates": "x", "why": 3}, "short": 7}})");
  EXPECT_EQ(std::ranges::count(found.findings, '\n'), 15) << found.findings;
  for (const char* pointer :
       {"/min_confidence)", "/gate_on)", "/size_gate/min)", "/size_gate/unit)", "/size_gate/scope)",
        "/size_gate/colour)", "/question/options/a b)", "/question/options/c)",
        "/question/instructions)", "/classes/code)", "/classes/prose/device)",
        "/classes/prose/alternates)", "/classes/prose/why)", "/classes/short)",
        "\"default\" is missing"}) {
    EXPECT_NE(found.findings.find(pointer), std::string::npos) << pointer << found.findings;
  }
  EXPECT_EQ(found.findings.find("warning"), std::string::npos) << found.findings;
}

TEST(PolicyReader, WordsOfErrors) {
  check("\"min_confidence\": \"0.16\"",
        "error \"min_confidence\" must be a number from 0 to 1, found \"0.16\"; write the number "
        "without quotes (/min_confidence)\n");
  check("\"size_gate\": true",
        "error \"size_gate\" must be an object, null or false, found true; write {\"min\": 1024}, "
        "or false for none (/size_gate)\n");
  check(
      "\"size_gate\": {\"unit\": \"tokens\"}",
      "error \"unit\" must be \"chars\" or \"bytes\", found \"tokens\"; tokens are not counted in "
      "this version (/size_gate/unit)\n");
  check("\"size_gate\": {\"unit\": \"token\"}",
        "error \"unit\" must be \"chars\" or \"bytes\", found \"token\" (/size_gate/unit)\n");
  check("\"question\": []",
        "error \"question\" must be an object, found []; write {\"instructions\": \"...\", "
        "\"options\": {...}} (/question)\n");
  check("\"min_confidense\": 1",
        "error nothing reads the member \"min_confidense\"; did you mean \"min_confidence\"? "
        "(/min_confidense)\n");
}

TEST(PolicyReader, VersionOneOrNone) {
  EXPECT_EQ(read(R"({"version": 1, "default": "a", "classes": {}})").policy.version, 1);
  EXPECT_EQ(read(R"({"version": 1.0, "default": "a", "classes": {}})").findings, "");
  EXPECT_EQ(read(R"({"classes": {}})").policy.version, 0);
  for (const char* other : {"2", "0", "\"1\"", "null", "true", "1.5", "[]"}) {
    const Read found = read(std::string(R"({"classes": 1, "version": )") + other + "}");
    EXPECT_TRUE(found.findings.starts_with("error \"version\" must be 1, ")) << found.findings;
    EXPECT_EQ(std::ranges::count(found.findings, '\n'), 1) << found.findings;
  }
}

// A file of the 1bit router may hold anything besides; only likely slips are told.
TEST(PolicyReader, WithoutVersionOthersAreWarnings) {
  const Read found = read(R"({"clases": 1, "extra": [1], "evidence": {"a": 1}, "sticky": 7,
    "classes": {"code": {"device": "a b", "divice": 1, "why": 3, "note": 1}}})");
  EXPECT_EQ(found.findings,
            "warning nothing reads the member \"clases\"; did you mean \"classes\"? (/clases)\n"
            "warning \"sticky\" is read only in a file with \"version\": 1; add the version, or "
            "remove the member (/sticky)\n"
            "warning \"evidence\" is read only in a file with \"version\": 1; add the version, or "
            "remove the member (/evidence)\n"
            "warning nothing reads the member \"divice\"; did you mean \"device\"? "
            "(/classes/code/divice)\n");
  EXPECT_EQ(found.policy.rows.at(0).device, "a b");
  EXPECT_EQ(found.policy.rows.at(0).why, "");
  EXPECT_TRUE(found.policy.evidence.empty());
}

TEST(PolicyReader, GateAndQuestionOfBothForms) {
  for (const char* version : {"", R"("version": 1, "default": "vulkan", )"}) {
    const Read found = read("{" + std::string(version) + R"("classes": {},
      "question": {"instructions": "Which?", "options": {"x": "1", "y": "2", "big": "3"}},
      "size_gate": {"min": 5e2, "class": "big", "unit": "bytes"}})");
    EXPECT_EQ(found.findings, "");
    EXPECT_EQ(found.policy.options.size(), 2U);
    EXPECT_EQ(found.policy.size_gate->min, 500);
    EXPECT_EQ(found.policy.size_gate->unit, GateUnit::kBytes);
    EXPECT_EQ(found.policy.size_gate->scope, GateScope::kFirstUser);
    EXPECT_EQ(found.policy.size_gate->description, "3");
    EXPECT_EQ(found.policy.instructions, "Which?");
  }
}

TEST(PolicyReader, NamesOfAVersionedFileFitAHeader) {
  check(R"("x-own": {"anything": [1]}, "about": "x", "$schema": "docs/policy.schema.json")", "");
  check(R"("size_gate": {"class": "long doc"})",
        "error \"class\" must be a name, found \"long doc\"; a name has 1 to 64 letters, digits "
        "and ._:/-, a letter or digit first (/size_gate/class)\n");
  EXPECT_NE(read(R"({"version": 1, "default": "é", "classes": {"a\n": {"device": "b"}}})")
                .findings.find("cannot be a class's name"),
            std::string::npos);
}

}  // namespace
}  // namespace layard::gateway
