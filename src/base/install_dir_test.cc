#include "base/install_dir.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

TEST(InstallDir, IsTheFolderOfThisProgram) {
  const auto folder = install_dir();
  EXPECT_TRUE(folder.is_absolute());
  EXPECT_TRUE(std::filesystem::exists(folder / "base_test")) << folder;
}

}  // namespace
}  // namespace layard::base
