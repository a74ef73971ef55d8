// Goal: nobody removes a file that is being written, and what the dead left goes.
#include "backends/cpu/part_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/filesystem.h"
#include "support/temp_dir.h"

namespace layard::backends::cpu {
namespace {

namespace fs = std::filesystem;

std::size_t count(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(PartFile, IsPrivateAndLeavesNothingUnlessNamed) {
  const testing::TempDir folder;
  {
    const auto part = PartFile::create(folder.path());
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_TRUE(part->path().native().ends_with(kPartSuffix));
    EXPECT_EQ(fs::status(part->path()).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(count(folder.path()), 0U);
  {
    auto part = PartFile::create(folder.path());
    ASSERT_EQ(::write(part->descriptor(), "new", 3), 3);
    testing::write_file(folder / "f", "old");
    ASSERT_TRUE(part->name(folder / "f").ok());
    EXPECT_TRUE(part->path().empty());
    const PartFile moved = *std::move(part);
  }
  EXPECT_EQ(count(folder.path()), 1U);
  EXPECT_EQ(testing::read_file(folder / "f"), "new");
  EXPECT_EQ(PartFile::create(folder / "none").error().code, ErrorCode::kIo);
}

TEST(PartFile, OnlyTheAbandonedAreRemoved) {
  const testing::TempDir folder;
  const auto check = [](const fs::path& path, bool goes) {
    EXPECT_EQ(remove_abandoned(path), goes) << path;
    EXPECT_EQ(fs::exists(fs::symlink_status(path)), !goes) << path;
  };
  const auto written = PartFile::create(folder.path());
  check(written->path(), false);
  testing::write_file(folder / "dead.part", "x");
  check(folder / "dead.part", true);
  EXPECT_FALSE(remove_abandoned(folder / "dead.part")) << "and none is made to look";
  EXPECT_FALSE(fs::exists(folder / "dead.part"));
  testing::write_file(folder / "f", "x");
  fs::create_symlink("f", folder / "link.part");
  check(folder / "link.part", false);
  ASSERT_EQ(::mkfifo((folder / "pipe.part").c_str(), 0600), 0);
  check(folder / "pipe.part", false);
  fs::create_directory(folder / "folder.part");
  check(folder / "folder.part", false);
}

TEST(PartFile, AKilledWritersFileGoes) {
  const testing::TempDir folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    const auto part = PartFile::create(folder.path());
    if (part.ok() && ::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const fs::path part = fs::directory_iterator(folder.path())->path();
  EXPECT_FALSE(remove_abandoned(part));
  ::kill(writer, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_TRUE(remove_abandoned(part));
  EXPECT_EQ(count(folder.path()), 0U);
  ::close(ready[0]);
  ::close(ready[1]);
}

// A cleaner that goes round without a pause never takes a file from its writer.
TEST(PartFile, CleanersAndWritersDoNotMeet) {
  const testing::TempDir folder;
  std::atomic<bool> done{false};
  std::thread cleaner([&] {
    while (!done) {
      (void)base::visit_names(folder.path(), [&](const std::string& name) {
        if (name.ends_with(kPartSuffix)) remove_abandoned(folder / name);
        return true;
      });
    }
  });
  constexpr int kFiles = 5000;
  int made = 0;
  int named = 0;
  for (; made < kFiles; ++made) {
    auto part = PartFile::create(folder.path());
    if (!part.ok()) break;
    if (part->name(folder / "f").ok()) ++named;
  }
  done = true;
  cleaner.join();
  EXPECT_EQ(made, kFiles);
  EXPECT_EQ(named, kFiles);
}

}  // namespace
}  // namespace layard::backends::cpu
