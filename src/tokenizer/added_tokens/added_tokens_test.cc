#include "tokenizer/added_tokens/added_tokens.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

struct Switches {
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
};

std::string token(const std::string& content, const Switches& switches) {
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return R"({"id":0,"content":")" + content + R"(","single_word":)" + flag(switches.single_word) +
         R"(,"lstrip":)" + flag(switches.lstrip) + R"(,"rstrip":)" + flag(switches.rstrip) +
         R"(,"normalized":)" + flag(switches.normalized) + R"(,"special":false})";
}

// `tokens`: JSON; ids count from 0, since the model is empty.
void check(const std::string& tokens, const std::string& normalizer_json, std::string_view text,
           const std::vector<std::string>& expected) {
  const auto normalizer = Normalizer::from_json(testing::parse(normalizer_json));
  ASSERT_TRUE(normalizer.ok());
  const auto added = AddedTokens::from_json(testing::parse(tokens), Vocabulary(), *normalizer);
  ASSERT_TRUE(added.ok()) << added.error().message;
  Pieces pieces(text);
  added->cut(*normalizer, pieces);
  EXPECT_EQ(testing::texts_of(pieces), expected) << text;
}

TEST(AddedTokens, CutTheLongest) {
  const std::string tokens = "[" + token("<b>", {}) + "," + token("<b>c", {}) + "]";
  check(tokens, "null", "a<b>b<b>cd<b", {"a", "#0", "b", "#1", "d<b"});
  check(tokens, "null", "", {});
  check(tokens, "null", "<b><b>", {"#0", "#0"});
}

TEST(AddedTokens, StripWhiteSpace) {
  check("[" + token("<l>", {.lstrip = true}) + "]", "null", "a \n<l> b", {"a", "#0", " b"});
  check("[" + token("<r>", {.rstrip = true}) + "]", "null", "a <r> \u3000b", {"a ", "#0", "b"});
  // White space that one token took is not taken again.
  check("[" + token("<l>", {.lstrip = true, .rstrip = true}) + "]", "null", "<l>  <l>",
        {"#0", "#0"});
  // The search goes on inside white space that rstrip took.
  check("[" + token("<r>", {.rstrip = true}) + "," + token("  ", {}) + "]", "null", "<r>  a",
        {"#0", "#1", "a"});
}

// White space that every token would strip again and again is looked at once.
TEST(AddedTokens, StrippingStaysLinear) {
  const std::string blanks(2'000'000, ' ');
  const auto start = std::chrono::steady_clock::now();
  for (const bool rstrip : {false, true}) {
    const auto added = AddedTokens::from_json(
        testing::parse("[" + token(" ", {.lstrip = true, .rstrip = rstrip}) + "]"), Vocabulary(),
        Normalizer());
    ASSERT_TRUE(added.ok());
    Pieces pieces(blanks);
    added->cut(Normalizer(), pieces);
    EXPECT_EQ(pieces.list().size(), rstrip ? 1U : blanks.size());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// As the package: rstrip hands white space out again when a token begins in it.
TEST(AddedTokens, TokensInsideStrippedSpace) {
  const std::string tokens = "[" + token("<r>", {.rstrip = true}) + "," + token("  ", {}) + "]";
  check(tokens, "null", "<r>   a", {"#0", "#1", " a"});
  const std::string both =
      "[" + token("<r>", {.rstrip = true}) + "," + token(" ", {.lstrip = true}) + "]";
  check(both, "null", "<r> a", {"#0", "a"});
  const std::string blank = "[" + token(" ", {.lstrip = true, .rstrip = true}) + "]";
  check(blank, "null", "c  a", {"c", "#0", "a"});
}

TEST(AddedTokens, StandAlone) {
  const std::string tokens = "[" + token("or", {.single_word = true}) + "]";
  check(tokens, "null", "or for or\u00e9 (or) or", {"#0", " for or\u00e9 (", "#0", ") ", "#0"});
}

TEST(AddedTokens, MatchBeforeOrAfterNormalization) {
  constexpr const char* kLower = R"({"type":"Lowercase"})";
  check("[" + token("Yes", {.normalized = true}) + "]", kLower, "YES yEs", {"#0", " ", "#0"});
  check("[" + token("Yes", {}) + "]", kLower, "Yes YES", {"#0", " yes"});
}

TEST(AddedTokens, TakeTheModelsIdsOrTheNextFree) {
  Vocabulary model;
  model.set_id(model.insert("<a>"), 0);
  model.set_id(model.insert("b"), 1);
  const auto added = AddedTokens::from_json(
      testing::parse("[" + token("<x>", {}) + "," + token("<a>", {}) + "," + token("", {}) + "," +
                     token("<y>", {}) + "," + token("<y>", {.lstrip = true}) + "]"),
      model, Normalizer());
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->find("<a>"), 0);
  EXPECT_EQ(added->find("<x>"), 2);
  EXPECT_EQ(added->find("<y>"), 3);
  EXPECT_EQ(added->find(""), std::nullopt);
  EXPECT_EQ(added->beyond(model), 2U);
  ASSERT_NE(added->text_of(3), nullptr);
  EXPECT_EQ(*added->text_of(3), "<y>");
  EXPECT_EQ(added->text_of(1), nullptr);
  Pieces pieces("a <y>");
  added->cut(Normalizer(), pieces);
  // The later switches count.
  EXPECT_EQ(testing::texts_of(pieces), (std::vector<std::string>{"a", "#3"}));
}

TEST(AddedTokens, RefuseWhatHasNoMeaning) {
  const auto refused = [](const std::string& tokens, const std::string& normalizer, ErrorCode code,
                          std::string_view part) {
    testing::check_refused(testing::to_json({.added_tokens = tokens, .normalizer = normalizer}),
                           code, part);
  };
  refused("[3]", "null", ErrorCode::kArtifactIntegrity, "added_tokens[0]");
  refused(R"([{"id":1,"content":"x"}])", "null", ErrorCode::kArtifactIntegrity,
          "added_tokens[0].single_word");
  refused(R"([{"content":"x"}])", "null", ErrorCode::kArtifactIntegrity, "added_tokens[0].id");
  const std::string twins =
      "[" + token("Ab", {.normalized = true}) + "," + token("aB", {.normalized = true}) + "]";
  refused(twins, R"({"type":"Lowercase"})", ErrorCode::kUnsupportedModel, "two added tokens");
  refused("[" + token("\\u0301", {.normalized = true}) + "]", R"({"type":"StripAccents"})",
          ErrorCode::kUnsupportedModel, "leaves nothing");
}

}  // namespace
}  // namespace layard::tokenizer
