#include "base/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "support/temp_dir.h"

namespace layard::base {
namespace {

using testing::TempDir;
using testing::write_file;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, BytesOutliveTheDescriptorAndMoves) {
  const TempDir folder;
  write_file(folder / "f", "hello");
  MappedFile mapped;
  {
    auto file = ReadOnlyFile::open(folder / "f");
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->size_bytes(), 5U);
    auto result = file->map();
    ASSERT_TRUE(result.ok());
    mapped = *std::move(result);
  }
  const MappedFile moved = std::move(mapped);
  EXPECT_EQ(text_of(moved.bytes()), "hello");
}

// A name may lead to another file than the one that was opened before.
TEST(MappedFile, TheVerySameFile) {
  const TempDir folder;
  write_file(folder / "f", "hello");
  write_file(folder / "g", "hello");
  const int descriptor = ::open((folder / "f").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  auto same = ReadOnlyFile::open(folder / "f");
  auto other = ReadOnlyFile::open(folder / "g");
  ASSERT_TRUE(same.ok() && other.ok());
  EXPECT_TRUE(same->is_same_file(descriptor));
  EXPECT_FALSE(other->is_same_file(descriptor));
  EXPECT_FALSE(same->is_same_file(-1));
  ::close(descriptor);
}

TEST(MappedFile, PrivateMeansThisUserAlone) {
  const TempDir folder;
  write_file(folder / "f", "hello");
  const auto check = [&](const char* name, mode_t mode, bool opens) {
    ASSERT_EQ(::chmod((folder / "f").c_str(), mode), 0);
    EXPECT_EQ(ReadOnlyFile::open_private(folder / name).ok(), opens) << name << " " << mode;
    EXPECT_TRUE(ReadOnlyFile::open(folder / name).ok());
  };
  std::filesystem::create_symlink("f", folder / "link");
  check("f", 0600, true);
  check("f", 0400, true);
  check("f", 0640, false);
  check("f", 0602, false);
  check("link", 0600, false);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(::chown((folder / "f").c_str(), 4711, 4711), 0);
  check("f", 0600, false);
}

// A page that is gone would be a signal at its first use, not an error.
TEST(MappedFile, ShortenedBeforeItIsMapped) {
  const TempDir folder;
  write_file(folder / "f", std::string(10'000, 'x'));
  const auto file = ReadOnlyFile::open(folder / "f");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::truncate((folder / "f").c_str(), 5000), 0);
  const auto mapped = file->map();
  ASSERT_FALSE(mapped.ok());
  EXPECT_EQ(mapped.error().code, ErrorCode::kIo);
  EXPECT_NE(mapped.error().message.find("5000 of 10000 bytes are left"), std::string::npos)
      << mapped.error().message;
  ASSERT_EQ(::truncate((folder / "f").c_str(), 20'000), 0);  // longer does no harm
  EXPECT_EQ(file->map()->bytes().size(), 10'000U);
}

TEST(MappedFile, EmptyFile) {
  const TempDir folder;
  write_file(folder / "f", "");
  const auto file = ReadOnlyFile::open(folder / "f");
  ASSERT_TRUE(file.ok());
  const auto mapped = file->map();
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST(MappedFile, ReadAtStopsAtTheEnd) {
  const TempDir folder;
  write_file(folder / "f", "hello");
  const auto file = ReadOnlyFile::open(folder / "f");
  ASSERT_TRUE(file.ok());
  std::array<std::byte, 3> piece{};
  ASSERT_TRUE(file->read_at(2, piece).ok());
  EXPECT_EQ(text_of(piece), "llo");
  const Status status = file->read_at(3, piece);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_NE(status.error().message.find("ends at byte 5"), std::string::npos);
}

// A pipe in place of a file is refused at once instead of waiting for somebody to write.
TEST(MappedFile, OnlyRegularFiles) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& path :
       {folder / "pipe", folder.path(), std::filesystem::path("/dev/null"), folder / "absent"}) {
    const auto file = ReadOnlyFile::open(path);
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_EQ(file.error().code, ErrorCode::kIo);
    EXPECT_NE(file.error().message.find(path.string()), std::string::npos);
  }
}

TEST(MappedFile, TextIsBounded) {
  const TempDir folder;
  write_file(folder / "f", "hello");
  EXPECT_EQ(*read_text_file(folder / "f", 5), "hello");
  const auto refused = read_text_file(folder / "f", 4);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kArtifactIntegrity);
  EXPECT_EQ(read_text_file(folder / "absent", 4).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace layard::base
