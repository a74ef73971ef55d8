#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
