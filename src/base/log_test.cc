#include "base/log.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

TEST(Log, LevelNames) {
  EXPECT_EQ(log_level_name(LogLevel::kDebug), "debug");
  EXPECT_EQ(log_level_name(LogLevel::kInfo), "info");
  EXPECT_EQ(log_level_name(LogLevel::kWarning), "warning");
  EXPECT_EQ(log_level_name(LogLevel::kError), "error");
}

TEST(Log, DefaultSaysNothing) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  discarding_log().write(LogLevel::kError, "unseen");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace layard::base
