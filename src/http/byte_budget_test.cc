#include "http/byte_budget.h"

#include <gtest/gtest.h>

namespace layard::http {
namespace {

TEST(HttpByteBudget, SharesTakeAndGiveBack) {
  const auto budget = std::make_shared<ByteBudget>(10'000);
  {
    BudgetShare one(budget);
    EXPECT_TRUE(one.grow_to(1));
    EXPECT_EQ(budget->used(), 4096U);
    EXPECT_TRUE(one.grow_to(4096));
    EXPECT_EQ(budget->used(), 4096U);
    BudgetShare two(budget);
    EXPECT_TRUE(two.grow_to(4097 - 4096));
    EXPECT_FALSE(two.grow_to(4097));
    EXPECT_EQ(two.bytes(), 4096U);
    EXPECT_EQ(budget->used(), 8192U);
  }
  EXPECT_EQ(budget->used(), 0U);
}

}  // namespace
}  // namespace layard::http
