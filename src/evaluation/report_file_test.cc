#include <gtest/gtest.h>

#include "layard/evaluation.h"
#include "support/temp_dir.h"

namespace layard {
namespace {

TEST(ReportFile, ReplacesWholeFiles) {
  const testing::TempDir folder;
  const std::string path = (folder / "report.html").string();
  EXPECT_TRUE(check_report_path(path).ok());
  for (const char* text : {"first, and longer", "second"}) {
    ASSERT_TRUE(write_report(path, text).ok());
    EXPECT_EQ(testing::read_file(path), text);
  }
  EXPECT_TRUE(check_report_path("beside-us.html").ok());
}

TEST(ReportFile, Refusals) {
  const testing::TempDir folder;
  EXPECT_EQ(check_report_path(folder.path().string()).error().code, ErrorCode::kIo);
  const std::string absent = (folder / "absent/report.html").string();
  EXPECT_EQ(check_report_path(absent).error().code, ErrorCode::kIo);
  EXPECT_EQ(write_report(absent, "x").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace layard
