#include "tokenizer/id_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(TokenCache, KeepsWholeTexts) {
  IdCache cache(8);
  cache.insert("ab", Ids{1, 2});
  EXPECT_EQ(cache.find("ab"), (Ids{1, 2}));
  for (const char* other : {"a", "abc", "AB", " ab", "ab ", ""}) {
    EXPECT_EQ(cache.find(other), std::nullopt) << other;
  }
  cache.insert(std::string_view("ab\0", 3), Ids{3});
  EXPECT_EQ(cache.find("ab"), (Ids{1, 2}));
  EXPECT_EQ(cache.find(std::string_view("ab\0", 3)), Ids{3});
}

TEST(TokenCache, HitsAreCopies) {
  IdCache cache(8);
  cache.insert("a", Ids{1});
  auto first = cache.find("a");
  (*first)[0] = 99;
  EXPECT_EQ(cache.find("a"), Ids{1});
}

TEST(TokenCache, BoundsEntriesAndDropsTheLongestUnused) {
  IdCache cache(3);
  for (const char* text : {"a", "b", "c"}) cache.insert(text, Ids{1});
  cache.find("a");
  cache.insert("d", Ids{1});
  EXPECT_EQ(cache.entries(), 3U);
  EXPECT_NE(cache.find("a"), std::nullopt);
  EXPECT_EQ(cache.find("b"), std::nullopt);
  EXPECT_NE(cache.find("d"), std::nullopt);
}

TEST(TokenCache, NeverHasMoreThanItsMaximum) {
  IdCache cache(1'000'000);
  for (int i = 0; i < IdCache::kEntriesMax + 10; ++i) cache.insert(std::to_string(i), Ids{i});
  EXPECT_EQ(cache.entries(), static_cast<std::size_t>(IdCache::kEntriesMax));
}

TEST(TokenCache, BoundsCostByCodePointsAndIds) {
  IdCache cache(100, 10);
  cache.insert("\u00e9\u00e9", Ids{1, 2});  // 2 code points, 2 ids
  EXPECT_EQ(cache.cost(), 4U);
  cache.insert("abc", Ids{1, 2, 3});
  EXPECT_EQ(cache.cost(), 10U);
  cache.insert("x", Ids{});
  EXPECT_EQ(cache.cost(), 7U);
  EXPECT_EQ(cache.find("\u00e9\u00e9"), std::nullopt);
  cache.insert("abcdef", Ids{1, 2, 3, 4, 5});  // 11: more than the whole budget
  EXPECT_EQ(cache.find("abcdef"), std::nullopt);
  EXPECT_EQ(cache.cost(), 7U);
}

TEST(TokenCache, NeverKeepsAnEntryOverHalfAMillion) {
  IdCache cache(100);
  cache.insert(std::string(250'000, 'a'), Ids(250'000));
  EXPECT_EQ(cache.cost(), 500'000U);
  cache.insert(std::string(250'000, 'b'), Ids(250'001));
  EXPECT_EQ(cache.entries(), 1U);
}

TEST(TokenCache, ReplacingKeepsTheAccountRight) {
  IdCache cache(100);
  cache.insert("abc", Ids{1, 2, 3});
  cache.insert("abc", Ids{7});
  EXPECT_EQ(cache.entries(), 1U);
  EXPECT_EQ(cache.cost(), 4U);
  EXPECT_EQ(cache.find("abc"), Ids{7});
  cache.insert("abc", Ids(600'000));  // not kept: what was there is out of date
  EXPECT_EQ(cache.entries(), 0U);
  EXPECT_EQ(cache.cost(), 0U);
}

TEST(TokenCache, FewerThanOneEntryTurnsItOff) {
  for (const int entries : {0, -1}) {
    IdCache cache(entries);
    cache.insert("a", Ids{1});
    EXPECT_EQ(cache.find("a"), std::nullopt);
    EXPECT_EQ(cache.entries(), 0U);
  }
}

Ids encode_through(IdCache& cache, const Tokenizer& tokenizer, const std::string& text) {
  if (auto known = cache.find(text)) return *std::move(known);
  Ids ids = testing::encode(tokenizer, text);
  cache.insert(text, ids);
  return ids;
}

TEST(TokenCache, OffGivesSameIds) {
  const auto tokenizer = testing::load(testing::to_json(testing::Parts()));
  ASSERT_NE(tokenizer, nullptr);
  IdCache on(16);
  IdCache off(0);
  for (const char* text : {"ab", "abc", "ab", "", "cab", "abc"}) {
    EXPECT_EQ(encode_through(on, *tokenizer, text), encode_through(off, *tokenizer, text));
  }
  EXPECT_EQ(on.entries(), 4U);
}

// 8 threads, so small a cache that entries come and go all the time.
TEST(TokenCache, EqualsUncachedUnderThreads) {
  const auto tokenizer = testing::load(testing::to_json(testing::Parts()));
  ASSERT_NE(tokenizer, nullptr);
  IdCache cache(5, 200);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 2000; ++i) {
          std::string text;
          for (auto n = random() % 6; n > 0; --n) text += "abc "[random() % 4];
          if (encode_through(cache, *tokenizer, text) != testing::encode(*tokenizer, text)) ++wrong;
          if (cache.entries() > 5 || cache.cost() > 200) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace layard::tokenizer
