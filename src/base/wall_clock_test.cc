#include "base/wall_clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace layard::base {
namespace {

TEST(WallClock, AgreesWithTheSystem) {
  const auto before = static_cast<std::int64_t>(std::time(nullptr));
  const auto now = unix_time_s();
  // time() may read a coarser clock that lags by a tick.
  EXPECT_GE(now, before - 1);
  EXPECT_LE(now, static_cast<std::int64_t>(std::time(nullptr)) + 1);
}

}  // namespace
}  // namespace layard::base
