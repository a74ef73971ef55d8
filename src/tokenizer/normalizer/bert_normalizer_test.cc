#include "tokenizer/normalizer/bert_normalizer.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

constexpr const char* kUncased =
    R"({"clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true})";
constexpr const char* kCased =
    R"({"clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":false})";
constexpr const char* kLowerOnly =
    R"({"clean_text":false,"handle_chinese_chars":false,"strip_accents":false,"lowercase":true})";

void check(const char* json, std::string_view text, std::string_view expected) {
  const base::JsonValue value = testing::parse(json);
  const auto fields = JsonFields::of(value, "normalizer");
  ASSERT_TRUE(fields.ok());
  const auto bert = BertNormalizer::from_json(*fields);
  ASSERT_TRUE(bert.ok()) << bert.error().message;
  std::string out;
  bert->append(text, out);
  EXPECT_EQ(out, expected) << json;
}

TEST(BertNormalizer, CleansLowersAndStrips) {
  check(kUncased, "Hello\tWorld\n", "hello world ");
  check(kUncased, std::string_view("a\0b\x01\x7F", 5), "ab");
  check(kUncased, "\u00c9t\u00e9", "ete");
  check(kUncased, "e\u0301\u0323", "e");
  check(kUncased, "\u0130", "i");
  check(kUncased, "a\u200bb\ufffd\u00a0c\u0085", "ab c");
  check(kUncased, "x\u4e2dy", "x \u4e2d y");
  check(kUncased, "\uac00", "\u1100\u1161");
  // The package's list of Chinese blocks has a gap.
  check(kUncased, "\U0002b825\U0002b930", "\U0002b825 \U0002b930 ");
}

TEST(BertNormalizer, DoesOnlyWhatIsAsked) {
  check(kCased, "\u00c9A\tb", "\u00c9A b");
  check(kLowerOnly, "\u00c9A\t\u0130\u4e2d", "\u00e9a\ti\u0307\u4e2d");
}

TEST(BertNormalizer, NeedsItsFields) {
  testing::check_refused(
      testing::to_json({.normalizer = R"({"type":"BertNormalizer","clean_text":true})"}),
      ErrorCode::kArtifactIntegrity, "normalizer.handle_chinese_chars");
}

}  // namespace
}  // namespace layard::tokenizer
