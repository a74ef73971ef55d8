#include "tokenizer/normalizer/normalizer.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

void check(const std::string& json, std::string_view text, std::string_view expected) {
  const auto normalizer = Normalizer::from_json(testing::parse(json));
  ASSERT_TRUE(normalizer.ok()) << normalizer.error().message;
  std::string out;
  normalizer->append(text, out);
  EXPECT_EQ(out, expected) << json;
}

void check_refused(const std::string& json, ErrorCode code, std::string_view part) {
  testing::check_refused(testing::to_json({.normalizer = json}), code, part);
}

TEST(Normalizer, AppliesEachStep) {
  check("null", "A \u00e9", "A \u00e9");
  check(R"({"type":"NFC"})", "e\u0301", "\u00e9");
  check(R"({"type":"NFD"})", "\u00e9", "e\u0301");
  check(R"({"type":"NFKC"})", "\ufb01", "fi");
  check(R"({"type":"NFKD"})", "\u00bd", "1\u20442");
  check(R"({"type":"Lowercase"})", "\u0130A\u03a3", "i\u0307a\u03c3");
  check(R"({"type":"StripAccents"})", "e\u0301\u0903x", "ex");
  check(R"({"type":"Strip","strip_left":true,"strip_right":false})", " \n x\u3000", "x\u3000");
  check(R"({"type":"Strip","strip_left":true,"strip_right":true})", " \u2003 ", "");
  check(R"({"type":"Replace","pattern":{"String":"aa"},"content":"b"})", "aaa aa", "ba b");
  check(R"({"type":"Prepend","prepend":"_"})", "x", "_x");
  check(R"({"type":"Prepend","prepend":"_"})", "", "");
  check(R"({"type":"ByteLevel"})", " \u00e9", "\u0120\u00c3\u00a9");
}

TEST(Normalizer, RunsSequencesInOrder) {
  check(R"({"type":"Sequence","normalizers":[]})", "A", "A");
  check(R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"_"},)"
        R"({"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"String":" "},)"
        R"("content":"_"},{"type":"Lowercase"}]}]})",
        "A B", "_a_b");
}

TEST(Normalizer, RefusesChainsThatGrowATextTooMuch) {
  std::string steps;
  for (int i = 0; i < 10; ++i) {
    steps += R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"},)";
  }
  check_refused(R"({"type":"Sequence","normalizers":[)" + steps + R"({"type":"NFC"}]})",
                ErrorCode::kUnsupportedModel, "times longer (normalizer)");
}

TEST(Normalizer, RefusesDamagedAndUnknownSteps) {
  check_refused(R"("NFC")", ErrorCode::kArtifactIntegrity, "normalizer: expected an object");
  check_refused("{}", ErrorCode::kArtifactIntegrity, "normalizer.type");
  check_refused(R"({"type":"Strip","strip_left":true})", ErrorCode::kArtifactIntegrity,
                "normalizer.strip_right");
  check_refused(R"({"type":"Replace","pattern":{"String":"a"}})", ErrorCode::kArtifactIntegrity,
                "normalizer.content");
  check_refused(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "})",
                ErrorCode::kUnsupportedModel, "regular expression of normalizer Replace");
  check_refused(R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Odd"}]})",
                ErrorCode::kUnsupportedModel, "normalizer Odd (normalizer.normalizers[1])");
}

}  // namespace
}  // namespace layard::tokenizer
