#include "tokenizer/model/bpe/merger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace layard::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

// The rule itself, as slowly as one can say it.
Ids merge_slowly(const MergeTable& merges, Ids ids) {
  for (;;) {
    Merge best;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merge merge =
          merges.find(static_cast<std::uint32_t>(ids[i]), static_cast<std::uint32_t>(ids[i + 1]));
      if (merge.rank < best.rank) {
        best = merge;
        at = i;
      }
    }
    if (best.rank == Merge::kNone) return ids;
    ids[at] = static_cast<std::int32_t>(best.id);
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

// Random rules over 6 symbols, each merged symbol with one text.
std::vector<MergeRule> random_rules(std::mt19937& random, std::vector<bool>& initial) {
  std::vector<std::string> texts = {"a", "b", "c", "d", "e", "f"};
  initial.assign(texts.size(), true);
  std::vector<MergeRule> rules;
  while (texts.size() < 40) {
    const auto left = static_cast<std::uint32_t>(random() % texts.size());
    const auto right = static_cast<std::uint32_t>(random() % texts.size());
    const std::string text = texts[left] + texts[right];
    auto merged = static_cast<std::uint32_t>(std::ranges::find(texts, text) - texts.begin());
    if (merged == texts.size()) texts.push_back(text);
    rules.push_back({left, right, merged, static_cast<std::uint32_t>(text.size())});
  }
  initial.resize(texts.size(), false);
  std::ranges::shuffle(rules, random);
  return rules;
}

TEST(Merger, AgreesWithTheRuleForShortAndLongWords) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<bool> initial;
    const std::vector<MergeRule> rules = random_rules(random, initial);
    MergeTable table;
    table.build(rules);
    Seams seams;
    seams.build(rules, initial);
    const Seams no_seams;
    for (const std::size_t size : {0U, 1U, 2U, 7U, 32U, 33U, 150U}) {
      Merger merger;
      Ids word;
      for (std::size_t i = 0; i < size; ++i)
        word.push_back(static_cast<std::int32_t>(random() % 6));
      const Ids expected = merge_slowly(table, word);
      for (const Seams* cuts : std::initializer_list<const Seams*>{&seams, &no_seams}) {
        merger.clear();
        for (const std::int32_t id : word) merger.add(static_cast<std::uint32_t>(id));
        Ids ids = {-7};
        merger.merge_into(table, *cuts, ids);
        EXPECT_EQ(ids.front(), -7);
        EXPECT_EQ(Ids(ids.begin() + 1, ids.end()), expected)
            << "round " << round << " size " << size;
      }
    }
  }
}

}  // namespace
}  // namespace layard::tokenizer
