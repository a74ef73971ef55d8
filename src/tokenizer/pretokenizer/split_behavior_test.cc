#include "tokenizer/pretokenizer/split_behavior.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

// The example of the package's documentation.
TEST(SplitBehavior, CutsAsDocumented) {
  constexpr std::string_view kText = "the-final--countdown";
  const std::vector<SplitPart> parts = {{0, 3, false}, {3, 4, true},   {4, 9, false},
                                        {9, 10, true}, {10, 11, true}, {11, 20, false}};
  struct Row {
    const char* name;
    std::vector<std::string> expected;
  };
  const Row rows[] = {
      {"Removed", {"the", "final", "countdown"}},
      {"Isolated", {"the", "-", "final", "-", "-", "countdown"}},
      {"MergedWithPrevious", {"the-", "final-", "-", "countdown"}},
      {"MergedWithNext", {"the", "-final", "-", "-countdown"}},
      {"Contiguous", {"the", "-", "final", "--", "countdown"}},
  };
  for (const Row& row : rows) {
    const auto behavior = split_behavior_named(row.name);
    ASSERT_TRUE(behavior.has_value()) << row.name;
    Pieces pieces(kText);
    add_split(parts, *behavior, pieces);
    EXPECT_EQ(testing::texts_of(pieces), row.expected) << row.name;
  }
  EXPECT_EQ(split_behavior_named("removed"), std::nullopt);
}

}  // namespace
}  // namespace layard::tokenizer
