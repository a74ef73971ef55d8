#include "gateway/policy_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace layard::gateway {
namespace {

TEST(PolicyText, NameAndFirstLetterChooseTheForm) {
  const auto check = [](std::string_view name, std::string_view text, bool yaml) {
    EXPECT_EQ(is_yaml_policy(name, text), yaml) << name << " " << text;
  };
  check("policy.yaml", "{}", true);
  check("policy.YML", "{}", true);
  check("policy.json", "a: 1", false);
  check("policy", " \n{}", false);
  check("policy", "\xEF\xBB\xBF{}", false);
  check("policy", "a: 1", true);
  check("policy", "", true);
  check("policy.json", "", false);
}

TEST(PolicyText, Hash) {
  EXPECT_EQ(policy_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

void check_refused(std::string_view text, std::string_view name, const std::string& part,
                   std::uint32_t line, std::uint32_t column) {
  PolicyFindings findings;
  EXPECT_FALSE(read_policy_text(text, name, findings).has_value()) << part;
  ASSERT_EQ(findings.errors(), 1U);
  const PolicyFinding& found = findings.all()[0];
  EXPECT_EQ(found.kind, PolicyFaultKind::kSyntax);
  EXPECT_NE(found.what.find(part), std::string::npos) << found.what;
  EXPECT_EQ(found.place.line, line) << found.what;
  EXPECT_EQ(found.place.column, column) << found.what;
}

TEST(PolicyText, WhatIsNoJsonIsToldWithItsPlace) {
  check_refused("{\"a\": 1,\n \"b\": NaN}", "p.json", "not JSON", 2, 7);
  check_refused("{\"a\": }", "p.json", "not JSON", 1, 7);
  check_refused("{\"a\": \"\xff\"}", "p.json", "not JSON", 1, 8);
  check_refused("", "p.json", "not JSON", 1, 1);
}

TEST(PolicyText, BoundsHold) {
  check_refused(std::string(kPolicyBytesMax + 1, ' '), "p.json", "over the limit", 0, 0);
  check_refused("{\"a\": " + std::string(40, '[') + std::string(40, ']') + "}", "p.json",
                "deeper than 32", 0, 0);
  std::string many = "[";
  for (std::size_t i = 0; i < kPolicyNodesMax; ++i) many += "1,";
  check_refused(many + "1]", "p.json", "65536 values", 0, 0);
}

TEST(PolicyText, BothFormsGiveTheSameValues) {
  PolicyFindings findings;
  const auto json = read_policy_text(
      R"({"a": [1, 0.5, true, null, "x"], "b": {"c": "no", "no": "1"}})", "p.json", findings);
  const auto yaml = read_policy_text(
      "# a comment\na: [1, 0.5, true, null, x]\nb:\n  c: no\n  no: '1'\n", "p.yaml", findings);
  ASSERT_TRUE(json.has_value() && yaml.has_value()) << findings.all().at(0).sentence();
  EXPECT_EQ(write_json(json->root, base::JsonStyle::kCompact),
            write_json(yaml->root, base::JsonStyle::kCompact));
  EXPECT_EQ(yaml->node().member("b").member("no").places->value.line, 5U);
  EXPECT_EQ(yaml->node().member("b").member("no").places->value.column, 7U);
}

std::string example(const std::string& name) {
  std::ifstream file(LAYARD_SOURCE_DIR "/docs/examples/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PolicyText, BothExamplesAreOne) {
  PolicyFindings findings;
  const auto json = read_policy_text(example("policy.json"), "policy.json", findings);
  const auto yaml = read_policy_text(example("policy.yaml"), "policy.yaml", findings);
  ASSERT_TRUE(json.has_value() && yaml.has_value()) << findings.all().at(0).sentence();
  EXPECT_EQ(write_json(json->root, base::JsonStyle::kIndent1),
            write_json(yaml->root, base::JsonStyle::kIndent1));
}

TEST(PolicyText, RepeatedNamesOfJsonAreKept) {
  PolicyFindings findings;
  const auto text = read_policy_text(R"({"a": 1, "a": 2})", "p.json", findings);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(findings.errors(), 0U);
  ASSERT_EQ(text->repeats.size(), 1U);
  EXPECT_EQ(text->repeats[0].pointer, "/a");
  EXPECT_EQ(text->root.find("a")->text(), "2");
}

}  // namespace
}  // namespace layard::gateway
