#include "tokenizer/model/bpe/merge_table.h"

#include <gtest/gtest.h>

namespace layard::tokenizer {
namespace {

TEST(MergeTable, FindsRulesAndTheLaterOfTwo) {
  std::vector<MergeRule> rules;
  for (std::uint32_t i = 0; i < 5000; ++i) rules.push_back({i, i * 7 + 1, i + 100000, 2});
  rules.push_back({3, 22, 77, 2});  // the pair of rule 3 again
  MergeTable table;
  table.build(rules);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const Merge merge = table.find(i, i * 7 + 1);
    EXPECT_EQ(merge.rank, i == 3 ? 5000U : i);
    EXPECT_EQ(merge.id, i == 3 ? 77U : i + 100000);
    EXPECT_EQ(table.find(i * 7 + 50000, i).rank, Merge::kNone);
  }
}

TEST(MergeTable, AnEmptyOneFindsNothing) {
  MergeTable table;
  EXPECT_EQ(table.find(0, 0).rank, Merge::kNone);
  table.build({});
  EXPECT_EQ(table.find(0, 0).rank, Merge::kNone);
}

}  // namespace
}  // namespace layard::tokenizer
