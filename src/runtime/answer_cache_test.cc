#include "runtime/answer_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace layard::runtime {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(AnswerCache, EveryPartOfARowAndTheModelAreInItsKey) {
  const Ids a = {1, 2, 3};
  const Ids b = {1, 2, 4};
  const Ids one = {1};
  const Ids none;
  std::set<std::string> keys;
  const auto add = [&](std::string_view model, const encoder::ModelRow& row) {
    const std::string key = row_key(model, row);
    EXPECT_EQ(key.size(), 64U);
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_EQ(row_key(model, row), key);
  };
  add("m", {a, one, 0, none, none});
  add("n", {a, one, 0, none, none});
  add("m", {b, one, 0, none, none});
  add("m", {a, a, 0, none, none});
  add("m", {a, one, 1, none, none});
  add("m", {a, one, 0, a, none});
  add("m", {a, one, 0, none, a});
  // What ends one field cannot begin the next.
  add("m", {Ids{1, 2}, Ids{3, 1}, 0, none, none});
  add("m", {Ids{1, 2, 3}, Ids{1, 1}, 0, none, none});
}

AnswerCache::Entry entry(float value) { return {{{value, value}, {value}}, value > 2}; }

std::string key(char c) { return std::string(64, c); }

TEST(AnswerCache, KeepsAndGivesBack) {
  AnswerCache cache(1 << 20);
  EXPECT_TRUE(cache.is_on());
  EXPECT_FALSE(cache.find(key('a')).has_value());
  cache.insert(key('a'), entry(1));
  cache.insert(key('b'), entry(3));
  const auto a = cache.find(key('a'));
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->output.logits, (std::vector<float>{1, 1}));
  EXPECT_EQ(a->output.act, (std::vector<float>{1}));
  EXPECT_FALSE(a->rechecked);
  EXPECT_TRUE(cache.find(key('b'))->rechecked);
}

TEST(AnswerCache, TheLeastRecentlyUsedGoFirstAndBytesStayBelowTheBound) {
  AnswerCache cache(0);
  EXPECT_FALSE(cache.is_on());
  cache.insert(key('a'), entry(1));
  EXPECT_FALSE(cache.find(key('a')).has_value());
  EXPECT_EQ(cache.bytes(), 0U);

  AnswerCache probe(1 << 20);
  probe.insert(key('a'), entry(1));
  const std::uint64_t one = probe.bytes();
  probe.insert(key('a'), entry(2));  // kept already
  EXPECT_EQ(probe.bytes(), one);

  AnswerCache three(3 * one);
  for (const char c : {'a', 'b', 'c'}) three.insert(key(c), entry(1));
  EXPECT_TRUE(three.find(key('a')).has_value());
  three.insert(key('d'), entry(1));
  EXPECT_EQ(three.bytes(), 3 * one);
  EXPECT_TRUE(three.find(key('a')).has_value());
  EXPECT_FALSE(three.find(key('b')).has_value());
  EXPECT_TRUE(three.find(key('c')).has_value());
  EXPECT_TRUE(three.find(key('d')).has_value());

  AnswerCache tiny(one - 1);
  tiny.insert(key('a'), entry(1));
  EXPECT_FALSE(tiny.find(key('a')).has_value());
}

}  // namespace
}  // namespace layard::runtime
