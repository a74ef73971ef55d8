#include "tokenizer/tokenizer_file.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using testing::Parts;
using testing::to_json;

void check_damaged(const std::string& json, std::string_view where) {
  testing::check_refused(json, ErrorCode::kArtifactIntegrity, where);
}

std::string with_model(const std::string& model) { return to_json({.model = model}); }

TEST(TokenizerFile, ReadsBothSpellingsOfMerges) {
  for (const char* merges : {R"([["a","b"],["ab","c"]])", R"(["#version: 0.2","a b","ab c"])"}) {
    const auto file =
        read_tokenizer_file(with_model(R"({"merges":)" + std::string(merges) + R"(,"vocab":{}})"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->model->merges.has_value());
    const MergeTexts& texts = *file->model->merges;
    ASSERT_EQ(texts.size(), 2U);
    EXPECT_EQ(texts.left(1), "ab");
    EXPECT_EQ(texts.right(1), "c");
    EXPECT_EQ(texts.both(1), "abc");
  }
}

TEST(TokenizerFile, KeepsSmallFieldsAndTheLastOfARepeatedToken) {
  const auto file = read_tokenizer_file(
      R"({"model":{"type":"BPE","vocab":{"a":1,"b":2,"a":3},"merges":[],"fuse_unk":true},)"
      R"("future":{"deep":[[{"x":null}]]},"normalizer":{"type":"NFC"}})");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->model->vocabulary->find("a"), 3);
  EXPECT_TRUE(file->model->fields.find("fuse_unk")->as_bool());
  EXPECT_EQ(file->normalizer.find("type")->text(), "NFC");
  EXPECT_TRUE(file->decoder.is_null());
}

TEST(TokenizerFile, NamesTheDamagedField) {
  check_damaged("", "tokenizer.json");
  check_damaged("{", "tokenizer.json");
  check_damaged("[]", "expected an object");
  check_damaged("3", "expected an object");
  check_damaged("{}", "model: the field is missing");
  check_damaged(R"({"version":"2.0","model":{}})", "version: expected \"1.0\"");
  check_damaged(R"({"added_tokens":null,"model":{}})", "added_tokens: expected an array");
  check_damaged(R"({"model":null})", "model: expected an object");
  check_damaged(R"({"model":[1]})", "model: expected an object");
  check_damaged(with_model("{}"), "model.type");
  check_damaged(with_model(R"({"type":"BPE","merges":[]})"), "model.vocab: the field is missing");
  check_damaged(with_model(R"({"type":"BPE","vocab":{}})"), "model.merges: the field is missing");
  check_damaged(with_model(R"({"type":1,"vocab":{}})"), "model.type");
  // A number where the vocabulary's object should be once crashed, also in a second model.
  for (const char* number : {"5", "1.5", "-1"}) {
    const std::string model =
        R"({"type":"BPE","vocab":)" + std::string(number) + R"(,"merges":[]})";
    check_damaged(with_model(model), "model.vocab");
    check_damaged(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"model":)" + model + "}",
                  "model.vocab");
  }
}

TEST(TokenizerFile, NamesTheDamagedTokenOrMerge) {
  for (const char* id : {"-1", "1.0", "\"1\"", "null", "2147483648", "[1]", "{}", "true"}) {
    check_damaged(with_model(R"({"type":"BPE","merges":[],"vocab":{"x":)" + std::string(id) + "}}"),
                  "model.vocab");
  }
  const auto merges = [](const std::string& list) {
    return with_model(R"({"type":"BPE","vocab":{"a":0,"b":1},"merges":)" + list + "}");
  };
  check_damaged(merges(R"(["a"])"), "model.merges[0]");
  check_damaged(merges(R"(["a b c"])"), "model.merges[0]");
  check_damaged(merges(R"([["a"]])"), "model.merges");
  check_damaged(merges(R"([["a","b","c"]])"), "model.merges");
  check_damaged(merges(R"([["a",1]])"), "model.merges");
  check_damaged(merges(R"([["a",["b"]]])"), "model.merges");
  check_damaged(merges(R"([{}])"), "model.merges");
  check_damaged(merges(R"({"a":"b"})"), "model.merges");
  check_damaged(merges(R"("a b")"), "model.merges");
  check_damaged(merges(R"([["a","b"]])"), "\"ab\" is not in model.vocab");
  check_damaged(merges(R"([["a","b"],"a b"])"), "model.merges[1]");
  check_damaged(merges(R"(["a b",["a","b"]])"), "model.merges[1]");
}

TEST(TokenizerFile, BoundsDepth) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  check_damaged(R"({"normalizer":)" + deep + R"(,"model":{}})", "deep");
  check_damaged(R"({"future":)" + deep + R"(,"model":{}})", "deep");
}

// Every prefix of a file is refused or, from the closing brace on, read: no crash, no hang.
TEST(TokenizerFile, SurvivesCutFiles) {
  const std::string whole = to_json(Parts());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto tokenizer = Tokenizer::from_json(std::string_view(whole).substr(0, bytes));
    ASSERT_FALSE(tokenizer.ok()) << bytes;
    EXPECT_EQ(tokenizer.error().code, ErrorCode::kArtifactIntegrity);
  }
}

// One byte changed anywhere: a typed error or a tokenizer that encodes.
TEST(TokenizerFile, SurvivesChangedBytes) {
  const std::string whole =
      to_json({.normalizer = R"({"type":"NFC"})",
               .pre_tokenizer = R"({"type":"Metaspace","replacement":"_","split":true})"});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char c : {'\0', '"', '{', ']', '9', 'z', '\xFF'}) {
      std::string changed = whole;
      changed[at] = c;
      const auto tokenizer = Tokenizer::from_json(changed);
      if (tokenizer.ok()) testing::encode(**tokenizer, "abc ab");
      const bool typed = tokenizer.ok() ||
                         tokenizer.error().code == ErrorCode::kArtifactIntegrity ||
                         tokenizer.error().code == ErrorCode::kUnsupportedModel;
      EXPECT_TRUE(typed) << at;
    }
  }
}

}  // namespace
}  // namespace layard::tokenizer
