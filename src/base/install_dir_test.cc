#include "base/install_dir.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace layard::base {
namespace {

TEST(InstallDir, IsTheFolderOfThisProgram) {
  const auto folder = install_dir();
  EXPECT_TRUE(folder.is_absolute());
  EXPECT_TRUE(std::filesystem::exists(folder / "base_test")) << folder;
}

// That the folder is right for a library found by a relative path is shown by Install.Consumer.
TEST(InstallDir, TheKernelSaysWhichFileIsMapped) {
  EXPECT_EQ(mapped_file(reinterpret_cast<const void*>(&install_dir)),
            std::filesystem::canonical("/proc/self/exe"));
  const std::string name = mapped_file(reinterpret_cast<const void*>(&std::fopen)).filename();
  EXPECT_NE(name.find(".so"), std::string::npos) << name;
  const int on_the_stack = 0;
  EXPECT_EQ(mapped_file(&on_the_stack), "");
  EXPECT_EQ(mapped_file(nullptr), "");
}

}  // namespace
}  // namespace layard::base
