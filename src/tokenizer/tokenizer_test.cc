#include "tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "support/shared_dir.h"
#include "tokenizer/id_cache.h"
#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using testing::encode;
using testing::load;
using testing::Parts;
using testing::read_file;
using testing::read_vectors;
using testing::to_json;
using testing::Vector;

const std::filesystem::path kFixtures = LAYARD_SOURCE_DIR "/tests/fixtures/tokenizers";

void check_vectors(const Tokenizer& tokenizer, const std::vector<Vector>& vectors) {
  ASSERT_FALSE(vectors.empty());
  for (const Vector& vector : vectors) {
    EXPECT_EQ(encode(tokenizer, vector.text), vector.ids) << ::testing::PrintToString(vector.text);
  }
}

class TokenizerFixtures : public ::testing::TestWithParam<const char*> {};

// Ids and decoded texts of the Rust package, for every component that is implemented.
TEST_P(TokenizerFixtures, EqualTheRustPackage) {
  const std::string name = GetParam();
  const auto tokenizer = load(read_file(kFixtures / (name + ".json")));
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Vector> vectors = read_vectors(kFixtures / (name + ".jsonl"));
  check_vectors(*tokenizer, vectors);
  for (const Vector& vector : vectors) {
    EXPECT_EQ(tokenizer->decode(vector.ids), vector.decoded)
        << ::testing::PrintToString(vector.text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerFixtures,
                         ::testing::Values("byte_level", "byte_level_prefix", "byte_level_split",
                                           "gemma", "llama", "metaspace_first", "metaspace_never",
                                           "partial_fallback", "prefix", "splits", "suffix",
                                           "wordpiece_cased", "wordpiece_uncased"),
                         [](const auto& test) { return std::string(test.param); });

class TokenizerGoldens : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerGoldens, EqualReferenceIds) {
  LAYARD_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "goldens/tokenizers";
  const std::string name = GetParam();
  const auto tokenizer = load(read_file(folder / (name + ".tokenizer.json")));
  ASSERT_NE(tokenizer, nullptr);
  check_vectors(*tokenizer, read_vectors(folder / (name + ".jsonl")));
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerGoldens,
                         ::testing::Values("modernbert", "metaspace", "gemma", "minilm"),
                         [](const auto& test) { return std::string(test.param); });

// Field bugs B01 to B04: special tokens in user text, normal forms, byte fallback, white space.
TEST(TokenizerFieldBugs, HaveReferenceIds) {
  LAYARD_REQUIRE_SHARED(shared);
  std::map<std::string, std::vector<Vector>> by_tokenizer;
  for (Vector& vector : read_vectors(shared / "bug-inputs/tokenizer-cases.jsonl")) {
    by_tokenizer[vector.tokenizer].push_back(std::move(vector));
  }
  ASSERT_EQ(by_tokenizer.size(), 2U);
  for (const auto& [name, vectors] : by_tokenizer) {
    const auto tokenizer = load(read_file(shared / "bug-inputs" / name / "tokenizer.json"));
    ASSERT_NE(tokenizer, nullptr);
    check_vectors(*tokenizer, vectors);
  }
}

// Field bug B07: 8 threads share a tokenizer and its cache, half of them cap what they use.
TEST(TokenizerThreads, AgreeWithOneThread) {
  constexpr int kThreads = 8;
  constexpr std::size_t kEncodes = 500;
  constexpr std::size_t kCap = 48;
  const auto tokenizer = load(read_file(kFixtures / "byte_level.json"));
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Vector> vectors = read_vectors(kFixtures / "byte_level.jsonl");
  IdCache cache(IdCache::kEntriesMax);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < kEncodes; ++i) {
          const Vector& vector = vectors[(i * 7 + static_cast<std::size_t>(t)) % vectors.size()];
          auto known = cache.find(vector.text);
          std::vector<std::int32_t> ids =
              known ? *std::move(known) : encode(*tokenizer, vector.text);
          cache.insert(vector.text, ids);
          std::vector<std::int32_t> wanted = vector.ids;
          if (t % 2 == 0) {
            ids.resize(std::min(ids.size(), kCap));
            wanted.resize(std::min(wanted.size(), kCap));
          }
          if (ids != wanted) ++wrong;
          std::ranges::fill(ids, -1);  // a caller's own copy: nothing else changes
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Tokenizer, IgnoresPostProcessorTruncationAndPadding) {
  const auto tokenizer = load(to_json(Parts()));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(encode(*tokenizer, "abc abab"), (std::vector<std::int32_t>{6, 4, 5, 5}));
}

TEST(Tokenizer, AppendsToIds) {
  const auto tokenizer = load(to_json(Parts()));
  ASSERT_NE(tokenizer, nullptr);
  std::vector<std::int32_t> ids = {9};
  tokenizer->encode("ab", ids);
  tokenizer->encode("", ids);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{9, 5}));
}

TEST(Tokenizer, ReadsIllFormedUtf8AsReplacementCharacters) {
  const auto tokenizer = load(to_json(Parts()));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(encode(*tokenizer, "a\xFF\xE2\x82z"), encode(*tokenizer, "a\uFFFD\uFFFDz"));
}

TEST(Tokenizer, TellsTokensAndIds) {
  Parts parts;
  parts.added_tokens =
      R"([{"id":7,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,)"
      R"("normalized":false,"special":true}])";
  const auto tokenizer = load(to_json(parts));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->vocab_size(), 8U);
  EXPECT_EQ(tokenizer->token_to_id("<s>"), 7);
  EXPECT_EQ(tokenizer->token_to_id("abc"), 6);
  EXPECT_EQ(tokenizer->token_to_id("zz"), std::nullopt);
  EXPECT_EQ(tokenizer->id_to_token(7), "<s>");
  EXPECT_EQ(tokenizer->id_to_token(6), "abc");
  EXPECT_EQ(tokenizer->id_to_token(-1), "");
  EXPECT_EQ(tokenizer->id_to_token(1000), "");
  const std::vector<std::int32_t> ids = {7, 6, 1000, -5};
  EXPECT_EQ(tokenizer->decode(ids), "<s> abc");
  EXPECT_EQ(tokenizer->decode(ids, SpecialText::kSkip), "abc");
}

// A model without a type is told by its fields, as old files have it.
TEST(Tokenizer, KnowsOldModels) {
  Parts parts;
  parts.model = R"({"unk_token":null,"vocab":{"a":0,"b":1,"ab":2},)"
                R"("merges":["#version: 0.2","a b"]})";
  const auto bpe = load(to_json(parts));
  ASSERT_NE(bpe, nullptr);
  EXPECT_EQ(encode(*bpe, "aabz"), (std::vector<std::int32_t>{0, 2}));
  parts.model = R"({"unk_token":"u","continuing_subword_prefix":"#","max_input_chars_per_word":5,)"
                R"("vocab":{"u":0,"a":1,"#b":2}})";
  const auto wordpiece = load(to_json(parts));
  ASSERT_NE(wordpiece, nullptr);
  EXPECT_EQ(encode(*wordpiece, "ab"), (std::vector<std::int32_t>{1, 2}));
}

TEST(Tokenizer, RefusesWhatIsNotImplementedByName) {
  const auto unsupported = [](const Parts& parts, std::string_view name) {
    testing::check_refused(to_json(parts), ErrorCode::kUnsupportedModel, name);
  };
  unsupported({.model = R"({"type":"Unigram","vocab":[["a",0.5]]})"}, "model type Unigram");
  unsupported({.model = R"({"type":"WordLevel","vocab":{}})"}, "model type WordLevel");
  unsupported({.normalizer = R"({"type":"Precompiled"})"}, "normalizer Precompiled");
  unsupported({.normalizer = R"({"type":"Nmt"})"}, "normalizer Nmt");
  unsupported({.pre_tokenizer = R"({"type":"UnicodeScripts"})"}, "pre_tokenizer UnicodeScripts");
  unsupported({.decoder = R"({"type":"CTC"})"}, "decoder CTC");
  unsupported({.pre_tokenizer = R"({"type":"Sequence","pretokenizers":[{"type":"Whitespace"},)"
                                R"({"type":"FixedLength","length":3}]})"},
              "pre_tokenizer FixedLength (pre_tokenizer.pretokenizers[1])");
  // "first" is told by the original text, which a normalizer hides.
  unsupported({.normalizer = R"({"type":"NFC"})",
               .pre_tokenizer = R"({"type":"Metaspace","replacement":"_",)"
                                R"("prepend_scheme":"first"})"},
              "prepend_scheme first");
}

}  // namespace
}  // namespace layard::tokenizer
