#include "tokenizer/pretokenizer/pretokenizer.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using Texts = std::vector<std::string>;

void check(const std::string& json, std::string_view text, const Texts& expected) {
  const auto step = PreTokenizer::from_json(testing::parse(json));
  ASSERT_TRUE(step.ok()) << step.error().message;
  Pieces pieces(text);
  pieces.add_text(0, text.size());
  step->apply(pieces);
  EXPECT_EQ(testing::texts_of(pieces), expected) << json;
}

void check_refused(const std::string& json, ErrorCode code, std::string_view part) {
  testing::check_refused(testing::to_json({.pre_tokenizer = json}), code, part);
}

std::string metaspace(const std::string& scheme, bool split) {
  return R"({"type":"Metaspace","replacement":"_","prepend_scheme":")" + scheme + R"(","split":)" +
         (split ? "true}" : "false}");
}

std::string split_at(const std::string& pattern, const std::string& behavior, bool invert) {
  return R"({"type":"Split","pattern":{"String":")" + pattern + R"("},"behavior":")" + behavior +
         R"(","invert":)" + (invert ? "true}" : "false}");
}

TEST(PreTokenizer, ByteLevelSpellsWords) {
  check(R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true})", "a  b\u00e9",
        {"a", "\u0120", "\u0120b\u00c3\u00a9"});
  check(R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":false})",
        "a b", {"\u0120a\u0120b"});
  check(R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":false})",
        " a", {"\u0120a"});
}

TEST(PreTokenizer, MetaspacePrependsAndSplits) {
  check(metaspace("always", true), "a  b", {"_a", "_", "_b"});
  check(metaspace("always", true), " a", {"_a"});
  check(metaspace("always", true), "_a_", {"_a", "_"});
  check(metaspace("never", true), "a b", {"a", "_b"});
  check(metaspace("never", false), "a b", {"a_b"});
  check(metaspace("first", true), "a b", {"_a", "_b"});
  check(R"({"type":"Metaspace","replacement":"\u2581"})", "a b",
        {"\u2581"
         "a",
         "\u2581"
         "b"});
}

TEST(PreTokenizer, MetaspaceFirstLooksAtTheStartOfTheText) {
  const auto step = PreTokenizer::from_json(testing::parse(metaspace("first", true)));
  ASSERT_TRUE(step.ok());
  EXPECT_TRUE(step->needs_original_text());
  Pieces pieces("xTy");
  pieces.add_text(0, 1);
  pieces.add_token(1, 2, 9);
  pieces.add_text(2, 3);
  step->apply(pieces);
  EXPECT_EQ(testing::texts_of(pieces), (Texts{"_x", "#9", "y"}));
}

TEST(PreTokenizer, SplitHasFiveBehaviors) {
  check(split_at("-", "Removed", false), "a-b--c", {"a", "b", "c"});
  check(split_at("-", "Isolated", false), "a-b--c", {"a", "-", "b", "-", "-", "c"});
  check(split_at("-", "MergedWithPrevious", false), "-a-b--c", {"-", "a-", "b-", "-", "c"});
  check(split_at("-", "MergedWithNext", false), "a-b--c-", {"a", "-b", "-", "-c", "-"});
  check(split_at("-", "Contiguous", false), "a-b--c", {"a", "-", "b", "--", "c"});
  check(split_at("-", "Removed", true), "a-b--c", {"-", "-", "-"});
}

TEST(PreTokenizer, SplitsByCharacterClass) {
  check(R"({"type":"BertPreTokenizer"})", "a, b\u3000\u20ac!", {"a", ",", "b", "\u20ac", "!"});
  check(R"({"type":"Whitespace"})", "a_b, c!?", {"a_b", ",", "c", "!?"});
  check(R"({"type":"WhitespaceSplit"})", " a,\n b ", {"a,", "b"});
  check(R"({"type":"Punctuation"})", "a,.b", {"a", ",", ".", "b"});
  check(R"({"type":"Punctuation","behavior":"Contiguous"})", "a,.b", {"a", ",.", "b"});
  check(R"({"type":"Digits","individual_digits":true})", "a12", {"a", "1", "2"});
  check(R"({"type":"Digits","individual_digits":false})", "a12\u00bdb", {"a", "12\u00bd", "b"});
  check(R"({"type":"CharDelimiterSplit","delimiter":"|"})", "a||b", {"a", "b"});
}

TEST(PreTokenizer, RunsSequencesInOrder) {
  check(R"({"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},)"
        R"({"type":"Digits","individual_digits":false}]})",
        "a1 b", {"a", "1", "b"});
}

TEST(PreTokenizer, LeavesBytesToTheModel) {
  auto last = PreTokenizer::from_json(
      testing::parse(R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true})"));
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->leave_bytes_raw());
  Pieces pieces("a b");
  pieces.add_text(0, 3);
  last->apply(pieces);
  EXPECT_EQ(testing::texts_of(pieces), (Texts{"a", " b"}));
  auto other = PreTokenizer::from_json(testing::parse(R"({"type":"Whitespace"})"));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->leave_bytes_raw());
}

TEST(PreTokenizer, RefusesDamagedAndUnknownSteps) {
  check_refused(R"({"type":"ByteLevel","add_prefix_space":true})", ErrorCode::kArtifactIntegrity,
                "pre_tokenizer.trim_offsets");
  check_refused(R"({"type":"Metaspace","replacement":"ab"})", ErrorCode::kArtifactIntegrity,
                "pre_tokenizer.replacement");
  check_refused(R"({"type":"Metaspace","replacement":"_","add_prefix_space":false})",
                ErrorCode::kArtifactIntegrity, "contradicts");
  check_refused(R"({"type":"Metaspace","replacement":"_","prepend_scheme":"last"})",
                ErrorCode::kArtifactIntegrity, "prepend_scheme");
  check_refused(R"({"type":"Split","pattern":{"String":"a"},"behavior":"Odd","invert":false})",
                ErrorCode::kArtifactIntegrity, "unknown behavior");
  check_refused(R"({"type":"Split","pattern":{"String":"a"},"behavior":"Removed"})",
                ErrorCode::kArtifactIntegrity, "pre_tokenizer.invert");
  check_refused(R"({"type":"Split","pattern":{"Regex":"a+"},"behavior":"Removed","invert":false})",
                ErrorCode::kUnsupportedModel, "regular expression of pre_tokenizer Split");
  check_refused(R"({"type":"Digits"})", ErrorCode::kArtifactIntegrity, "individual_digits");
  check_refused(R"({"type":"Sequence","pretokenizers":[{"type":"Metaspace","replacement":"_"},)"
                R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first"}]})",
                ErrorCode::kUnsupportedModel, "prepend_scheme first");
}

}  // namespace
}  // namespace layard::tokenizer
