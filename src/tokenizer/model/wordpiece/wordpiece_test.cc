#include "tokenizer/model/wordpiece/wordpiece.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

const std::string kModel =
    R"({"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##",)"
    R"("max_input_chars_per_word":6,"vocab":{"?":0,"un":1,"##able":2,"##a":3,"u":4,"##n":5,)"
    R"("\u00e9":6,"##\u00e9":7}})";

void check(std::string_view text, const Ids& expected) {
  const auto tokenizer = testing::load(testing::to_json({.model = kModel}));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(testing::encode(*tokenizer, text), expected) << text;
}

TEST(WordPiece, TakesTheLongestTokenFirst) {
  check("un", {1});
  check("unable", {1, 2});
  check("una", {1, 3});
  check("unn", {1, 5});
  check("\u00e9\u00e9", {6, 7});
}

TEST(WordPiece, GivesUpOnTheWholeWord) {
  check("unab", {0});
  check("x", {0});
  check("unannnn", {0});  // 7 characters
  check("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", {6, 7, 7, 7, 7, 7});
  check("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", {0});
}

void check_refused(const std::string& model, ErrorCode code, std::string_view part) {
  testing::check_refused(testing::to_json({.model = model}), code, part);
}

TEST(WordPiece, NeedsItsFields) {
  check_refused(R"({"type":"WordPiece","vocab":{"?":0},"unk_token":"?",)"
                R"("continuing_subword_prefix":"##"})",
                ErrorCode::kArtifactIntegrity, "model.max_input_chars_per_word");
  check_refused(R"({"type":"WordPiece","unk_token":"?"})", ErrorCode::kArtifactIntegrity,
                "model.vocab");
  check_refused(R"({"type":"WordPiece","vocab":{"a":0},"unk_token":"?",)"
                R"("continuing_subword_prefix":"##","max_input_chars_per_word":9})",
                ErrorCode::kUnsupportedModel, "model.unk_token");
}

std::string model_with(std::size_t word_chars_max, std::size_t token_bytes) {
  return R"({"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##",)"
         R"("max_input_chars_per_word":)" +
         std::to_string(word_chars_max) + R"(,"vocab":{"?":0,"##b":1,")" +
         std::string(token_bytes, 'a') + R"(":2}})";
}

// Either may be large; with both, a text of one word would take the square of its length.
TEST(WordPiece, EffortIsBounded) {
  for (const auto& [chars, bytes] :
       {std::pair<std::size_t, std::size_t>{2'000'000'000, 256}, {256, 1'000'000}}) {
    const auto tokenizer = testing::load(testing::to_json({.model = model_with(chars, bytes)}));
    ASSERT_NE(tokenizer, nullptr);
    const std::string word = std::string(bytes, 'a').substr(0, 256);
    EXPECT_EQ(testing::encode(*tokenizer, word), bytes == 256 ? Ids{2} : Ids{0});
  }
  check_refused(model_with(257, 257), ErrorCode::kUnsupportedModel,
                "max_input_chars_per_word 257 with a token of 257 bytes");
}

// A prefix as long as any token: nothing can continue a word, and nothing is tried.
TEST(WordPiece, PrefixLongerThanEveryToken) {
  const auto tokenizer = testing::load(testing::to_json(
      {.model = R"({"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"####",)"
                R"("max_input_chars_per_word":9,"vocab":{"?":0,"ab":1}})"}));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(testing::encode(*tokenizer, "ab"), Ids{1});
  EXPECT_EQ(testing::encode(*tokenizer, "abb"), Ids{0});
}

}  // namespace
}  // namespace layard::tokenizer
