#include <gtest/gtest.h>

#include <string>

#include "scheduler/scheduler.h"

namespace layard::scheduler {
namespace {

// The words are series labels of whoever watches a server: changing one breaks a dashboard.
TEST(SchedulerNames, Words) {
  std::string endings;
  for (std::size_t i = 0; i < kEndings; ++i) {
    endings += std::string(ending_name(static_cast<Ending>(i))) + " ";
  }
  EXPECT_EQ(endings, "completed failed cancelled expired closed ");
  std::string reasons;
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    reasons += std::string(refusal_reason_name(static_cast<RefusalReason>(i))) + " ";
  }
  EXPECT_EQ(reasons, "invalid queue_full client_full clients_full deadline closed ");
}

}  // namespace
}  // namespace layard::scheduler
