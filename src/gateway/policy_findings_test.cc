#include "gateway/policy_findings.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(PolicyFindings, PlacesAreCharactersAndLines) {
  PlaceCounter counter("ab\n文c\r\nd");
  const auto check = [&](std::size_t offset, std::uint32_t line, std::uint32_t column) {
    const PolicyPlace place = counter.at(offset);
    EXPECT_EQ(place.line, line) << offset;
    EXPECT_EQ(place.column, column) << offset;
  };
  check(0, 1, 1);
  check(1, 1, 2);
  check(3, 2, 1);
  check(6, 2, 2);     // behind three bytes of one character
  check(9, 3, 1);     // behind \r\n
  check(1000, 3, 2);  // the end
}

TEST(PolicyFindings, PointersAreEscapedAndBounded) {
  base::JsonValue root = base::JsonValue::object();
  root.set("a/b~c", base::JsonValue::array()).push_back(base::JsonValue::integer(1));
  root.set(std::string(500, 'x'), base::JsonValue::null());
  const PolicyNode node{&root, nullptr, "", ""};
  EXPECT_EQ(node.member("a/b~c").child(0).pointer, "/a~1b~0c/0");
  EXPECT_EQ(node.member("a/b~c").name, "a/b~c");
  EXPECT_TRUE(node.member("a/b~c").present());
  EXPECT_FALSE(node.member("b").present());
  EXPECT_EQ(node.member("b").pointer, "/b");
  EXPECT_FALSE(node.member("b").member("c").present());
  EXPECT_LT(node.child(1).pointer.size(), 200U);
}

TEST(PolicyFindings, SentenceHasItsParts) {
  PolicyFinding finding;
  finding.what = "it is wrong";
  EXPECT_EQ(finding.sentence(), "it is wrong");
  finding.found = "1";
  finding.fix = "write 2";
  finding.pointer = "/a";
  EXPECT_EQ(finding.sentence(), "it is wrong, found 1; write 2 (/a)");
}

TEST(PolicyFindings, ShownValuesAreCutBetweenCharacters) {
  EXPECT_EQ(shown_text("a\"b"), "\"a\\\"b\"");
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "文";
  const std::string shown = shown_text(long_text);
  EXPECT_LT(shown.size(), 80U);
  EXPECT_NE(shown.find("文...\""), std::string::npos) << shown;
  base::JsonValue list = base::JsonValue::array();
  for (int i = 0; i < 100; ++i) list.push_back(base::JsonValue::integer(i));
  EXPECT_EQ(shown_value(list), "a list of many");
  EXPECT_EQ(shown_value(base::JsonValue::boolean(true)), "true");
}

// Warnings, however many, leave room for the errors.
TEST(PolicyFindings, TheyAreBoundedEachKindForItself) {
  PolicyFindings findings;
  const PolicyNode nowhere{nullptr, nullptr, "/a", "a"};
  for (std::size_t i = 0; i < PolicyFindings::kMax + 5; ++i) findings.warning(nowhere, "w", "");
  findings.error(PolicyFaultKind::kMeaning, nowhere, "e", "");
  EXPECT_EQ(findings.warnings(), PolicyFindings::kMax + 5);
  EXPECT_EQ(findings.errors(), 1U);
  EXPECT_EQ(findings.all().size(), PolicyFindings::kMax + 1);
  EXPECT_EQ(findings.all().back().what, "e");
}

TEST(PolicyFindings, SortedByPlace) {
  PolicyFindings findings;
  for (const auto& [line, column] : {std::pair{3U, 1U}, std::pair{1U, 9U}, std::pair{1U, 2U}}) {
    PolicyFinding finding;
    finding.place = {line, column};
    findings.add(finding);
  }
  const auto sorted = findings.sorted();
  EXPECT_EQ(sorted[0].place.column, 2U);
  EXPECT_EQ(sorted[1].place.column, 9U);
  EXPECT_EQ(sorted[2].place.line, 3U);
}

}  // namespace
}  // namespace layard::gateway
