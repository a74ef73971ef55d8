#include <gtest/gtest.h>

#include <utility>

#include "layard/tokenizer.h"
#include "tokenizer/testing/tokenizer_parts.h"

namespace layard {
namespace {

const std::string kFile = LAYARD_SOURCE_DIR "/tests/fixtures/tokenizers/gemma.json";

TEST(PublicTokenizer, EncodesAndDecodes) {
  auto opened = Tokenizer::from_file(kFile);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const Tokenizer tokenizer = *std::move(opened);
  const std::string text = "The order isn't here.\n\u20ac 5";
  const auto ids = tokenizer.encode(text);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(tokenizer.decode(*ids), text);
  const std::vector<std::string> tokens = tokenizer.tokens(*ids);
  ASSERT_EQ(tokens.size(), ids->size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokenizer.token_to_id(tokens[i]), (*ids)[i]);
  }
  EXPECT_GT(tokenizer.vocab_size(), 256U);
}

TEST(PublicTokenizer, RefusesTextThatIsNotUtf8) {
  const auto tokenizer = Tokenizer::from_file(kFile);
  ASSERT_TRUE(tokenizer.ok());
  const auto ids = tokenizer->encode("a\xC3");
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().code, ErrorCode::kInvalidRequest);
}

TEST(PublicTokenizer, NamesTheFileItCannotRead) {
  const auto absent = Tokenizer::from_file("/nowhere/tokenizer.json");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kIo);
  EXPECT_NE(absent.error().message.find("/nowhere/tokenizer.json"), std::string::npos);
  const auto other = Tokenizer::from_file(LAYARD_SOURCE_DIR "/LICENSE");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kArtifactIntegrity);
  EXPECT_NE(other.error().message.find("LICENSE"), std::string::npos);
}

TEST(PublicTokenizer, Moves) {
  auto opened = Tokenizer::from_json(tokenizer::testing::to_json(tokenizer::testing::Parts()));
  ASSERT_TRUE(opened.ok());
  Tokenizer first = *std::move(opened);
  Tokenizer second = std::move(first);
  first = std::move(second);
  EXPECT_EQ(*first.encode("abc"), std::vector<std::int32_t>{6});
}

}  // namespace
}  // namespace layard
