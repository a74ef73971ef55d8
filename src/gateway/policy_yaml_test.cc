#include "gateway/policy_yaml.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

void check(std::string_view yaml, const std::string& json) {
  PolicyFindings findings;
  const auto text = read_policy_yaml(yaml, findings);
  ASSERT_TRUE(text.has_value()) << yaml << ": " << findings.all().at(0).sentence();
  EXPECT_EQ(write_json(text->root, base::JsonStyle::kPython), json) << yaml;
}

void check_refused(std::string_view yaml, const std::string& part, std::uint32_t line,
                   std::uint32_t column) {
  PolicyFindings findings;
  ASSERT_FALSE(read_policy_yaml(yaml, findings).has_value()) << yaml;
  ASSERT_EQ(findings.errors(), 1U);
  const PolicyFinding& found = findings.all()[0];
  EXPECT_EQ(found.kind, PolicyFaultKind::kSyntax);
  EXPECT_NE(found.sentence().find(part), std::string::npos) << found.sentence();
  EXPECT_EQ(found.place.line, line) << found.sentence();
  EXPECT_EQ(found.place.column, column) << found.sentence();
}

TEST(PolicyYaml, ScalarsMeanWhatEveryReaderSees) {
  check("a: true\nb: False\nc: null\nd: ~\ne:\n",
        R"({"a": true, "b": false, "c": null, "d": null, "e": null})");
  check("[yes, no, on, off, y, n, No, ON]", R"(["yes", "no", "on", "off", "y", "n", "No", "ON"])");
  check("[1, -2, 0, 0.16, 1e3, 1.5E-3, 12345678901234567890]",
        "[1, -2, 0, 0.16, 1000.0, 0.0015, 12345678901234567890]");
  check("['1', \"true\", 'null', \"a\\nb\", 'it''s', \"\\\"\"]",
        R"(["1", "true", "null", "a\nb", "it's", "\""])");
  check("a: |\n  one\n  two\nb: >\n  x\n  y\n", R"({"a": "one\ntwo\n", "b": "x y\n"})");
  check("[2026-09-28, 1.2.3, 12ab, 1e, -, a:b, ...x]",
        R"(["2026-09-28", "1.2.3", "12ab", "1e", "-", "a:b", "...x"])");
}

// JSON is YAML: with and without blanks.
TEST(PolicyYaml, JsonIsReadToo) {
  check(R"({"a":1,"b":[[1],{"c":true}],"d":{"e":"f"}})",
        R"({"a": 1, "b": [[1], {"c": true}], "d": {"e": "f"}})");
  check("{\n \"a\": [\n  1,\n  {}\n ]\n}\n", R"({"a": [1, {}]})");
}

TEST(PolicyYaml, NamesAreTexts) {
  check("no: 1\nyes: 2\non: 3\n1: 4\ntrue: 5\n0x10: 6\n'null': 7\n? a\n: 8\n",
        R"({"no": 1, "yes": 2, "on": 3, "1": 4, "true": 5, "0x10": 6, "null": 7, "a": 8})");
  check("classes: {no: {device: off}}", R"({"classes": {"no": {"device": "off"}}})");
}

TEST(PolicyYaml, NumbersThatReadersDoNotAgreeAboutAreRefused) {
  for (const char* word : {"010", "0x1F", "0o17", "0b11", "+1", ".5", "5.", "1_000", "12:30",
                           ".inf", "-.inf", ".nan", ".NaN", "00"}) {
    check_refused("ab: " + std::string(word), word, 1, 5);
    check("a: '" + std::string(word) + "'", R"({"a": ")" + std::string(word) + "\"}");
  }
}

TEST(PolicyYaml, WhatMultipliesOrSurprisesIsRefused) {
  check_refused("a: &x [1]\nb: *x\n", "anchor", 1, 4);
  check_refused("a: 1\nb: *x\n", "anchor is not defined", 2, 4);
  check_refused("a: 1\n<<: {b: 2}\n", "merge key", 2, 1);
  check_refused("a: !!str 1\n", "tag", 1, 4);
  check_refused("a: !foo {b: 1}\n", "tag", 1, 4);
  check_refused("a: 1\na: 2\n", "\"a\" stands here again", 2, 1);
  check_refused("a: {b: 1, b: 2}\n", "\"b\" stands here again", 1, 11);
  check_refused("a: 1\n'a': 2\n", "again", 2, 1);
  check_refused("~: 1\n", "null or missing", 1, 1);
  check_refused("a: {: 1}\n", "null or missing", 1, 5);
  check_refused("{[a]: 1}\n", "a list or a map where a name should be", 1, 2);
  check_refused("a: [\n  [1,\n  2\nb: 1\n", "a bracket that is never closed", 2, 3);
  check_refused("a: 1\n---\nb: 2\n", "second document", 0, 0);
  check_refused("", "empty", 0, 0);
  check_refused("# nothing\n", "empty", 0, 0);
}

TEST(PolicyYaml, FaultsHaveAPointer) {
  for (const auto& [yaml, pointer] :
       {std::pair{"a: {b: [1, 010]}", "/a/b/1"}, std::pair{"a: {b: 1, b: 2}", "/a"},
        std::pair{"~: 1", ""}, std::pair{"010", ""}, std::pair{"a/b: !!x 1", "/a~1b"}}) {
    PolicyFindings findings;
    EXPECT_FALSE(read_policy_yaml(yaml, findings).has_value());
    EXPECT_EQ(findings.all().at(0).pointer, pointer) << yaml;
  }
}

TEST(PolicyYaml, FaultsOfFormHaveAPlace) {
  check_refused("a: [1, 2\nb: 3\n", "not a policy's YAML", 2, 2);
  check_refused("a: b: c\n", "not a policy's YAML", 1, 5);
  check_refused("\ta: 1\n", "not a policy's YAML", 1, 3);
  // The parser would take a text that the end of the file closes.
  check_refused("a: \"x\n", "never closed", 1, 4);
  check_refused("a: 1\nb: 'it''s\n", "never closed", 2, 4);
  check_refused("a: \"x\\\"\n", "never closed", 1, 4);
  check_refused("\"a: 1\n", "never closed", 1, 1);
}

TEST(PolicyYaml, BytesThatAreNoText) {
  check_refused("a: \xff\n", "not UTF-8", 1, 4);
  check_refused(std::string_view("a: \0b\n", 6), "control character", 1, 4);
  check_refused(std::string_view("\xFF\xFE{\0}\0", 6), "not UTF-8", 1, 1);
  check_refused(std::string_view("{\0}\0", 4), "control character", 1, 2);
  check_refused("a: \x1b[31m\n", "control character", 1, 4);
}

// A bomb costs no more than its bytes.
TEST(PolicyYaml, BoundsHold) {
  PolicyFindings findings;
  for (const std::string& text : {std::string(200000, '['), std::string(200000, '{'),
                                  [] {
                                    std::string deep;
                                    for (int i = 0; i < 100000; ++i) deep += "- ";
                                    return deep;
                                  }(),
                                  [] {
                                    std::string deep;
                                    for (int i = 0; i < 600; ++i)
                                      deep +=
                                          std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
                                    return deep;
                                  }(),
                                  std::string(kPolicyBytesMax + 1, 'a')}) {
    EXPECT_FALSE(read_policy_yaml(text, findings).has_value());
  }
  std::string many = "[";
  for (std::size_t i = 0; i < kPolicyNodesMax; ++i) many += "1,";
  EXPECT_FALSE(read_policy_yaml(many + "1]", findings).has_value());
  EXPECT_NE(findings.all().back().what.find("65536 values"), std::string::npos);
  std::string members;
  for (std::size_t i = 0; i <= kPolicyMembersMax; ++i) members += "k" + std::to_string(i) + ": 1\n";
  EXPECT_FALSE(read_policy_yaml(members, findings).has_value());
  EXPECT_NE(findings.all().back().what.find("4096 members"), std::string::npos);
}

}  // namespace
}  // namespace layard::gateway
