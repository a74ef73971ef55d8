#include "tokenizer/model/bpe/bpe.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

void check(const std::string& model, std::string_view text, const Ids& expected) {
  const auto tokenizer = testing::load(testing::to_json({.model = model}));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(testing::encode(*tokenizer, text), expected) << model;
}

void check_refused(const std::string& model, ErrorCode code, std::string_view part) {
  testing::check_refused(testing::to_json({.model = model}), code, part);
}

std::string model(const std::string& options) {
  return R"({"type":"BPE","vocab":{"?":0,"a":1,"b":2,"ab":3,"<0xC3>":4,"<0xA9>":5,"aa":6},)"
         R"("merges":[["a","b"],["a","a"]])" +
         options + "}";
}

TEST(Bpe, MergesByRankThenPosition) {
  check(model(""), "aab", {1, 3});
  check(model(""), "aaa", {6, 1});
}

TEST(Bpe, TreatsUnknownCharactersAsAsked) {
  check(model(""), "axyb", {3});  // dropped, and what was apart meets
  check(model(R"(,"unk_token":"?")"), "axyb", {1, 0, 0, 2});
  check(model(R"(,"unk_token":"?","fuse_unk":true)"), "axyb", {1, 0, 2});
  check(model(R"(,"unk_token":"?","fuse_unk":true)"), "xy", {0});
  check(model(R"(,"byte_fallback":true)"), "a\u00e9b", {1, 4, 5, 2});
  // A byte without a token: unknown as a whole; the unknown token waits behind the bytes.
  check(model(R"(,"byte_fallback":true,"unk_token":"?")"), "x\u00e9a", {4, 5, 0, 1});
}

TEST(Bpe, IgnoresMergesForWholeWords) {
  const std::string base = R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"aba":3},)"
                           R"("merges":[["a","b"]],"ignore_merges":)";
  check(base + "true}", "aba", {3});
  check(base + "false}", "aba", {2, 0});
}

TEST(Bpe, DecoratesSubwords) {
  check(R"({"type":"BPE","vocab":{"a":0,"##b":1,"ab":2,"##b.":3,"a.":4},"merges":[["a","##b"]],)"
        R"("continuing_subword_prefix":"##","end_of_word_suffix":"."})",
        "abb", {2, 3});
  check(R"({"type":"BPE","vocab":{"a":0,"a.":4},"merges":[],"end_of_word_suffix":"."})", "aa",
        {0, 4});
}

TEST(Bpe, ReadsRawBytesOfByteLevel) {
  const std::string json = testing::to_json(
      {.model = R"({"type":"BPE","unk_token":"u","vocab":{"u":0,"\u0120":1,"a":2,"\u0120a":3},)"
                R"("merges":[["\u0120","a"]]})",
       .pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true})"});
  const auto tokenizer = testing::load(json);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(testing::encode(*tokenizer, "a a\u00e9"), (Ids{2, 3, 0, 0}));
}

TEST(Bpe, RefusesWhatItCannotDo) {
  check_refused(model(R"(,"dropout":0.1)"), ErrorCode::kUnsupportedModel, "model.dropout 0.1");
  check(model(R"(,"dropout":0.0)"), "ab", {3});
  check_refused(model(R"(,"unk_token":"zz")"), ErrorCode::kUnsupportedModel, "model.unk_token");
  check_refused(model(R"(,"fuse_unk":"yes")"), ErrorCode::kArtifactIntegrity, "model.fuse_unk");
  check_refused(model(R"(,"continuing_subword_prefix":"##")"), ErrorCode::kArtifactIntegrity,
                "model.merges[0]");
}

}  // namespace
}  // namespace layard::tokenizer
