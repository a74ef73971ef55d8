#include "base/filesystem.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <set>

#include "base/mapped_file.h"
#include "support/failing_filesystem.h"
#include "support/memory_filesystem.h"
#include "support/temp_dir.h"

namespace layard::base {
namespace {

namespace fs = std::filesystem;
using testing::FailingFilesystem;
using testing::MemoryFilesystem;

// The same checks on the disk and on the double that stands in for it.
class FilesystemTest : public ::testing::TestWithParam<bool> {
 protected:
  FilesystemTest() {
    if (GetParam()) {
      memory_ = std::make_unique<MemoryFilesystem>();
      root_ = "/w";
      EXPECT_TRUE(memory_->make_folders(root_).ok());
    } else {
      disk_ = std::make_unique<testing::TempDir>();
      root_ = disk_->path();
    }
  }
  Filesystem& files() { return memory_ ? *memory_ : real_filesystem(); }
  fs::path at(std::string_view name) const { return root_ / name; }
  std::string text(std::string_view name) {
    auto found = files().read_text(at(name), 1000);
    return found.ok() ? *found : "error";
  }
  void put(std::string_view name, std::string_view bytes) {
    ASSERT_TRUE(write_atomically(files(), at(name), bytes).ok());
  }

 private:
  std::unique_ptr<MemoryFilesystem> memory_;
  std::unique_ptr<testing::TempDir> disk_;
  fs::path root_;
};

TEST_P(FilesystemTest, WriteReadStat) {
  put("a", "one");
  put("a", "two!");
  EXPECT_EQ(text("a"), "two!");
  const auto info = files().stat(at("a"));
  ASSERT_TRUE(info.ok() && info->has_value());
  EXPECT_EQ((*info)->size_bytes, 4U);
  EXPECT_EQ((*info)->kind, FileKind::kFile);
  EXPECT_GT((*info)->mtime_ns, 0);
  EXPECT_EQ(*files().list(at("")), std::vector<std::string>{"a"});  // nothing left beside it
  EXPECT_FALSE(files().stat(at("none"))->has_value());
  EXPECT_FALSE(files().stat(at("a/below"))->has_value());
  EXPECT_FALSE(files().read_text(at("a"), 3).ok());
  EXPECT_FALSE(files().read_text(at("none"), 3).ok());
}

TEST_P(FilesystemTest, AppendAndCreate) {
  for (const char* piece : {"ab", "cd"}) {
    auto writer = files().open_append(at("f"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->write(std::as_bytes(std::span(std::string_view(piece)))).ok());
    ASSERT_TRUE((*writer)->sync().ok());
    ASSERT_TRUE((*writer)->close().ok());
  }
  EXPECT_EQ(text("f"), "abcd");
  ASSERT_TRUE(files().create(at("f")).ok());
  EXPECT_EQ(text("f"), "");
  EXPECT_FALSE(files().create(at("no/folder")).ok());
}

TEST_P(FilesystemTest, FoldersRenamedWithLinksInside) {
  ASSERT_TRUE(files().make_folders(at("blobs")).ok());
  ASSERT_TRUE(files().make_folders(at("stage/x/deep")).ok());
  put("blobs/b", "content");
  ASSERT_TRUE(files().make_link("../../blobs/b", at("stage/x/link")).ok());
  ASSERT_TRUE(files().make_link("../../../blobs/b", at("stage/x/deep/link")).ok());
  EXPECT_FALSE(files().make_link("../../blobs/b", at("stage/x/link")).ok());
  ASSERT_TRUE(files().make_folders(at("final")).ok());
  ASSERT_TRUE(files().rename(at("stage/x"), at("final/x")).ok());
  EXPECT_EQ(text("final/x/link"), "content");
  EXPECT_EQ(text("final/x/deep/link"), "content");
  EXPECT_EQ((*files().link_stat(at("final/x/link")))->kind, FileKind::kLink);
  EXPECT_EQ((*files().stat(at("final/x/link")))->kind, FileKind::kFile);
  EXPECT_EQ(files().canonical(at("final/x/link"))->filename(), "b");
  EXPECT_FALSE(files().stat(at("stage/x"))->has_value());
  // A folder with entries is neither replaced nor removed.
  ASSERT_TRUE(files().make_folders(at("other")).ok());
  EXPECT_FALSE(files().rename(at("other"), at("final")).ok());
  EXPECT_FALSE(files().remove(at("final")).ok());
  EXPECT_TRUE(files().remove(at("other")).ok());
  EXPECT_TRUE(files().remove(at("other")).ok());
  EXPECT_TRUE(files().sync_folder(at("final")).ok());
  EXPECT_FALSE(files().sync_folder(at("other")).ok());
  EXPECT_GT(*files().free_bytes(at("final")), 0U);
}

TEST_P(FilesystemTest, DanglingLink) {
  ASSERT_TRUE(files().make_link("nowhere", at("link")).ok());
  EXPECT_FALSE(files().stat(at("link"))->has_value());
  EXPECT_TRUE(files().link_stat(at("link"))->has_value());
  EXPECT_FALSE(files().canonical(at("link")).ok());
  EXPECT_TRUE(files().remove(at("link")).ok());
  EXPECT_FALSE(files().link_stat(at("link"))->has_value());
}

TEST_P(FilesystemTest, LockIsExclusive) {
  auto first = files().try_lock(at("lock"));
  ASSERT_TRUE(first.ok());
  ASSERT_NE(*first, nullptr);
  auto second = files().try_lock(at("lock"));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, nullptr);
  first->reset();
  auto third = files().try_lock(at("lock"));
  ASSERT_TRUE(third.ok());
  EXPECT_NE(*third, nullptr);
}

// Whichever step fails, the old content or all of the new is there, and nothing beside it.
TEST_P(FilesystemTest, AtomicWriteSurvivesEveryFailure) {
  put("f", "old");
  FailingFilesystem failing(files());
  int operation = 1;
  for (; operation < 100; ++operation) {
    failing.fail_at(operation);
    const Status status = write_atomically(failing, at("f"), "new content");
    if (!failing.failed()) break;
    EXPECT_FALSE(status.ok()) << operation;
    EXPECT_EQ(text("f"), "old") << operation;
    EXPECT_EQ(files().list(at(""))->size(), 1U) << operation;
  }
  EXPECT_GT(operation, 4);
  EXPECT_EQ(text("f"), "new content");
}

TEST_P(FilesystemTest, PrivateFilesAreThisUsersAlone) {
  ASSERT_TRUE(files().make_private_folder(at("own")).ok());
  ASSERT_TRUE(files().make_private_folder(at("own")).ok());
  ASSERT_TRUE(write_private_atomically(files(), at("own/f"), "one").ok());
  ASSERT_TRUE(write_private_atomically(files(), at("own/f"), "two").ok());
  EXPECT_EQ((*files().stat(at("own")))->mode, 0700U);
  EXPECT_EQ((*files().stat(at("own/f")))->mode, 0600U);
  EXPECT_EQ(*files().read_private_text(at("own/f"), 3), "two");
  EXPECT_EQ(files().list(at("own"))->size(), 1U);
  EXPECT_FALSE(files().read_private_text(at("own/f"), 2).ok());
  EXPECT_FALSE(files().read_private_text(at("own/none"), 3).ok());
  put("own/open", "two");  // by umask: others may read it
  EXPECT_FALSE(files().read_private_text(at("own/open"), 3).ok());
  ASSERT_TRUE(files().make_link("f", at("own/link")).ok());
  EXPECT_FALSE(files().read_private_text(at("own/link"), 3).ok());
  ASSERT_TRUE(files().make_folders(at("open")).ok());
  ASSERT_TRUE(write_private_atomically(files(), at("open/f"), "two").ok());
  EXPECT_FALSE(files().read_private_text(at("open/f"), 3).ok());
  const Status refused = files().make_private_folder(at("open"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_FALSE(files().make_private_folder(at("own/f")).ok());
}

// A private file is made anew: what has the old one open or mapped keeps its content.
TEST(RealFilesystem, PrivateFilesAreNeverRewrittenInPlace) {
  const testing::TempDir folder;
  testing::write_file(folder / "f", "old");
  const auto mapped = ReadOnlyFile::open(folder / "f")->map();
  ASSERT_TRUE(mapped.ok());
  const auto writer = real_filesystem().create_private(folder / "f");
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "old", 3), 0);
  EXPECT_EQ((*real_filesystem().stat(folder / "f"))->mode, 0600U);
}

TEST(RealFilesystem, VisitsNamesUntilTold) {
  const testing::TempDir folder;
  for (const char* name : {"a", "b", "c"}) testing::write_file(folder / name, "");
  std::set<std::string> seen;
  ASSERT_TRUE(visit_names(folder.path(), [&](const std::string& name) {
                return seen.insert(name).second;
              }).ok());
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b", "c"}));
  int count = 0;
  ASSERT_TRUE(visit_names(folder.path(), [&](const std::string&) { return ++count < 2; }).ok());
  EXPECT_EQ(count, 2);
  EXPECT_EQ(visit_names(folder / "none", [](const std::string&) { return true; }).error().code,
            ErrorCode::kIo);
}

INSTANTIATE_TEST_SUITE_P(Both, FilesystemTest, ::testing::Bool(), [](const auto& row) {
  return row.param ? std::string("Memory") : std::string("Disk");
});

// Over the limit of `ulimit -f` a program that ignores SIGXFSZ gets an error, and leaves nothing.
TEST(RealFilesystem, FileSizeLimitIsAnError) {
  const testing::TempDir folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status fits = write_atomically(real_filesystem(), folder / "a", "1234");
  const Status status = write_atomically(real_filesystem(), folder / "b", "12345");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(fits.ok());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_NE(status.error().message.find("/b"), std::string::npos) << status.error().message;
  EXPECT_EQ(*real_filesystem().list(folder.path()), std::vector<std::string>{"a"});
}

TEST(MemoryFilesystem, FullDisk) {
  MemoryFilesystem files;
  files.free_bytes_left = 4;
  EXPECT_TRUE(write_atomically(files, "/f", "abc").ok());
  const Status status = write_atomically(files, "/f", "defg");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("disk is full"), std::string::npos);
  EXPECT_EQ(*files.read_text("/f", 100), "abc");
}

}  // namespace
}  // namespace layard::base
