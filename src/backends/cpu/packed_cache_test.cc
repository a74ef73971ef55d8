// Goal: packed weights come back bit for bit, and only from a file that is whole, current and
// private.
#include "backends/cpu/packed_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "base/sha256.h"
#include "support/temp_dir.h"

namespace layard::backends::cpu {
namespace {

namespace fs = std::filesystem;

class Messages final : public base::LogSink {
 public:
  void write(base::LogLevel, std::string_view message) override { all += std::string(message); }
  std::string all;
};

class PackedCacheTest : public ::testing::Test {
 protected:
  PackedCacheTest() { ::chmod(folder_.path().c_str(), 0700); }

  // Writes a file whose payload is `value` in every byte; returns its path.
  fs::path keep(const PackedKey& key, unsigned char value) {
    auto writer = cache_.create(kBytes);
    EXPECT_TRUE(writer.ok());
    std::memset((*writer)->payload().data(), value, kBytes);
    const auto mapped = cache_.commit(**writer, key);
    EXPECT_TRUE(mapped.ok()) << mapped.error().message;
    EXPECT_EQ(mapped->bytes()[PackedCache::kHeaderBytes], std::byte{value});
    const auto entries = cache_.list();
    for (const PackedEntry& entry : *entries) {
      if (entry.key.starts_with(key.text(kBytes))) return entry.path;
    }
    ADD_FAILURE() << "the file is not listed";
    return {};
  }
  static PackedKey key(const std::string& type) {
    return {base::sha256_hex("weights"), base::sha256_hex("config"), "avx2", "0123456789abcdef",
            type};
  }
  // The first payload byte that find() gives, or -1.
  int found(const PackedKey& key) {
    const auto mapped = cache_.find(key, kBytes);
    return mapped ? static_cast<int>(mapped->bytes()[PackedCache::kHeaderBytes]) : -1;
  }

  static constexpr std::size_t kBytes = 10'000;
  testing::TempDir folder_;
  Messages log_;
  PackedCache cache_{{folder_ / "cache", 1 << 20}, log_};
};

TEST_F(PackedCacheTest, ComesBackForItsKeyOnly) {
  EXPECT_EQ(found(key("float32")), -1);
  keep(key("float32"), 7);
  EXPECT_EQ(found(key("float32")), 7);
  EXPECT_EQ(found(key("int8")), -1);
  PackedKey other = key("float32");
  other.code_hash = "fedcba9876543210";
  EXPECT_EQ(found(other), -1);
  EXPECT_FALSE(cache_.find(key("float32"), kBytes + 64).has_value());
  EXPECT_EQ(log_.all, "");
}

TEST_F(PackedCacheTest, FilesArePrivate) {
  const fs::path path = keep(key("float32"), 1);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(path.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(PackedCacheTest, OpenToOthersIsIgnored) {
  const fs::path path = keep(key("float32"), 1);
  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(found(key("float32")), -1);
  EXPECT_NE(log_.all.find("0600"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(found(key("float32")), 1);
  ::chmod(path.parent_path().c_str(), 0755);
  EXPECT_EQ(found(key("float32")), -1);
  EXPECT_FALSE(cache_.create(kBytes).ok());
}

TEST_F(PackedCacheTest, ALinkIsIgnored) {
  const fs::path path = keep(key("float32"), 1);
  fs::rename(path, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", path);
  EXPECT_EQ(found(key("float32")), -1);
}

// Every byte of the header and some of the payload: a change is seen, because it changes the time.
TEST_F(PackedCacheTest, ADamagedFileIsIgnored) {
  const fs::path path = keep(key("float32"), 1);
  for (const std::streamoff at : {0, 30, 200, 4096, 9000, 14095}) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char old = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(old ^ 0x20));
    file.close();
    EXPECT_EQ(found(key("float32")), -1) << at;
    std::fstream back(path, std::ios::in | std::ios::out | std::ios::binary);
    back.seekp(at);
    back.put(old);
    back.close();
    EXPECT_EQ(found(key("float32")), 1) << at;
  }
  fs::resize_file(path, 5000);
  EXPECT_EQ(found(key("float32")), -1);
}

TEST_F(PackedCacheTest, AnAbandonedWriterLeavesNothing) {
  { const auto writer = cache_.create(kBytes); }
  EXPECT_TRUE(cache_.list()->empty());
}

TEST_F(PackedCacheTest, PrunesTheLongestUnusedFirst) {
  const fs::path old = keep(key("float32"), 1);
  const fs::path middle = keep(key("bfloat16"), 2);
  const fs::path young = keep(key("int8"), 3);
  const auto age = [](const fs::path& path, long seconds) {
    const timespec times[2] = {{seconds, 0}, {0, UTIME_OMIT}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  age(old, 1000);
  age(middle, 2000);
  age(young, 3000);
  EXPECT_EQ(found(key("float32")), 1);  // now the last used
  const auto removed = cache_.prune(2 * (kBytes + PackedCache::kHeaderBytes), {});
  ASSERT_TRUE(removed.ok());
  ASSERT_EQ(removed->size(), 1U);
  EXPECT_EQ((*removed)[0].path, middle);
  EXPECT_EQ(cache_.prune(0, young)->size(), 1U);
  EXPECT_TRUE(fs::exists(young));
  EXPECT_EQ(cache_.prune(0, {})->size(), 1U);
}

// A part file of a process that died goes; one that is being written stays.
TEST_F(PackedCacheTest, PrunesWhatTheDeadLeft) {
  keep(key("float32"), 1);
  const fs::path dead = folder_ / "cache/packed/abcdef.part";
  std::ofstream(dead) << "x";
  const auto writer = cache_.create(kBytes);
  const auto removed = cache_.prune(1 << 20, {});
  ASSERT_TRUE(removed.ok());
  ASSERT_EQ(removed->size(), 1U);
  EXPECT_EQ((*removed)[0].path, dead);
}

TEST_F(PackedCacheTest, CommitKeepsTheFolderUnderItsLimit) {
  PackedCache small({folder_ / "cache", kBytes + PackedCache::kHeaderBytes}, log_);
  keep(key("float32"), 1);
  auto writer = small.create(kBytes);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(small.commit(**writer, key("int8")).ok());
  EXPECT_EQ(small.list()->size(), 1U);
  EXPECT_EQ(found(key("float32")), -1);
}

}  // namespace
}  // namespace layard::backends::cpu
