#include "base/checks.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

TEST(ChecksDeathTest, NamesTheCondition) {
  EXPECT_DEATH(LAYARD_CHECK(1 + 1 == 3), "internal check failed: 1 \\+ 1 == 3 at .*checks_test.cc");
  LAYARD_CHECK(1 + 1 == 2);
}

}  // namespace
}  // namespace layard::base
