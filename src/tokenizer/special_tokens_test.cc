#include "tokenizer/special_tokens.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

std::shared_ptr<const Tokenizer> abc() { return testing::load(testing::to_json(testing::Parts())); }

void check_refused(std::string_view config, ErrorCode code, std::string_view part) {
  const auto tokenizer = abc();
  ASSERT_NE(tokenizer, nullptr);
  const auto tokens = SpecialTokens::from_config(config, *tokenizer);
  ASSERT_FALSE(tokens.ok()) << config;
  EXPECT_EQ(tokens.error().code, code) << tokens.error().message;
  EXPECT_NE(tokens.error().message.find(part), std::string::npos) << tokens.error().message;
}

TEST(SpecialTokens, ReadsStringsAndObjects) {
  const auto tokenizer = abc();
  ASSERT_NE(tokenizer, nullptr);
  const auto tokens = SpecialTokens::from_config(
      R"({"cls_token":"a","sep_token":{"content":"b","lstrip":false},)"
      R"("mask_token":{"content":"ab"},)"
      R"("pad_token":"c","unk_token":"?","tokenizer_class":"Whatever",)"
      R"("extra_special_tokens":["x"],"added_tokens_decoder":{"5":{"content":"y"}}})",
      *tokenizer);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_EQ(tokens->cls_id, 1);
  EXPECT_EQ(tokens->sep_id, 2);
  EXPECT_EQ(tokens->mask_id, 5);
  EXPECT_EQ(tokens->mask_text, "ab");
  EXPECT_EQ(tokens->pad_id, 3);
  EXPECT_EQ(tokens->unk_id, 0);
}

TEST(SpecialTokens, NeedsOnlyClsSepAndMask) {
  const auto tokenizer = abc();
  ASSERT_NE(tokenizer, nullptr);
  const auto tokens = SpecialTokens::from_config(
      R"({"cls_token":"a","sep_token":"a","mask_token":"b","pad_token":null,)"
      R"("extra_special_tokens":{"x":"y"}})",
      *tokenizer);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_EQ(tokens->pad_id, 0);
  EXPECT_EQ(tokens->unk_id, SpecialTokens::kNone);
}

TEST(SpecialTokens, NamesTheRoleThatIsMissing) {
  const auto unsupported = [](std::string_view config, std::string_view part) {
    check_refused(config, ErrorCode::kUnsupportedModel, part);
  };
  unsupported(R"({"sep_token":"a","mask_token":"b"})", "no cls_token");
  unsupported(R"({"cls_token":"a","mask_token":"b"})", "no sep_token");
  unsupported(R"({"cls_token":"a","sep_token":"b","mask_token":null})", "no mask_token");
  unsupported(R"({"cls_token":"a","sep_token":"b","mask_token":"zz"})", "mask_token is \"zz\"");
  unsupported(R"({"cls_token":"a","sep_token":"b","mask_token":"c","pad_token":"p"})", "pad_token");
}

TEST(SpecialTokens, RefusesDamagedFiles) {
  check_refused("{", ErrorCode::kArtifactIntegrity, "tokenizer_config.json");
  check_refused("[]", ErrorCode::kArtifactIntegrity, "expected an object");
  check_refused(R"({"cls_token":5})", ErrorCode::kArtifactIntegrity, "cls_token");
}

}  // namespace
}  // namespace layard::tokenizer
