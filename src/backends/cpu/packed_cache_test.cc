// Goal: packed weights come back bit for bit, and only from a file that is whole, current and
// private.
#include "backends/cpu/packed_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/filesystem.h"
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
    for (const PackedEntry& entry : entries->entries) {
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

  // Lets a file be last used so many seconds after 1970.
  void age(const fs::path& path, long seconds) const {
    const auto listing = cache_.list();
    const auto entry = std::ranges::find(listing->entries, path, &PackedEntry::path);
    ASSERT_NE(entry, listing->entries.end());
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, entry->mark.c_str(), times, 0), 0);
  }
  std::set<std::string> names(const std::string& folder) const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
      out.insert(entry.path().filename());
    }
    return out;
  }

  static constexpr std::size_t kBytes = 10'000;
  static constexpr std::size_t kFileBytes = kBytes + PackedCache::kHeaderBytes;
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
  EXPECT_TRUE(cache_.list()->entries.empty());
}

TEST_F(PackedCacheTest, PrunesTheLongestUnusedFirst) {
  const fs::path old = keep(key("float32"), 1);
  const fs::path middle = keep(key("bfloat16"), 2);
  const fs::path young = keep(key("int8"), 3);
  age(old, 1000);
  age(middle, 2000);
  age(young, 3000);
  EXPECT_EQ(found(key("float32")), 1);  // the last used from here on
  EXPECT_EQ(cache_.list()->entries.front().path, middle);
  const auto removed = cache_.prune(2 * kFileBytes, {});
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->removed, std::vector<std::string>{middle.filename()});
  EXPECT_EQ(removed->bytes_freed, kFileBytes);
  EXPECT_EQ(removed->bytes_left, 2 * kFileBytes);
  EXPECT_EQ(cache_.prune(0, young)->files_removed, 1U);
  EXPECT_TRUE(fs::exists(young));
  EXPECT_EQ(cache_.prune(0, {})->files_removed, 1U);
  EXPECT_EQ(names("cache/stamps").size(), 0U) << "a stamp goes with its file";
}

// Use is remembered beside the file: touching the file itself would look like a change of it.
TEST_F(PackedCacheTest, UsingAFileIsNoChangeOfIt) {
  const fs::path path = keep(key("float32"), 1);
  const auto before = *base::real_filesystem().stat(path);
  EXPECT_EQ(found(key("float32")), 1);
  EXPECT_EQ((*base::real_filesystem().stat(path))->ctime_ns, before->ctime_ns);
}

// A changed payload is seen, also when the time of its change is put back.
TEST_F(PackedCacheTest, AChangeWithItsTimePutBackIsSeen) {
  const fs::path path = keep(key("float32"), 1);
  const auto time = fs::last_write_time(path);
  const auto before = *base::real_filesystem().stat(path);
  do {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(9000);
    file.put('x');
    file.close();
    fs::last_write_time(path, time);
  } while ((*base::real_filesystem().stat(path))->ctime_ns == before->ctime_ns);  // a clock tick
  EXPECT_EQ(found(key("float32")), -1);
  EXPECT_NE(log_.all.find("its content has changed"), std::string::npos) << log_.all;
}

// What is mapped stays whole: neither a new file in its place nor pruning touches the old one.
TEST_F(PackedCacheTest, AMappedFileOutlivesItsNameAndItsReplacement) {
  const fs::path path = keep(key("float32"), 1);
  const auto mapped = cache_.find(key("float32"), kBytes);
  ASSERT_TRUE(mapped.has_value());
  const auto check = [&](const char* after) {
    const auto payload = mapped->bytes().subspan(PackedCache::kHeaderBytes);
    EXPECT_TRUE(std::ranges::all_of(payload, [](std::byte b) { return b == std::byte{1}; }))
        << after;
  };
  keep(key("float32"), 2);
  check("another was written");
  EXPECT_EQ(found(key("float32")), 2);
  ASSERT_EQ(cache_.prune(0, {})->files_removed, 1U);
  check("prune");
}

// A part file of a process that died goes; one that is being written stays.
TEST_F(PackedCacheTest, PrunesWhatTheDeadLeft) {
  keep(key("float32"), 1);
  testing::write_file(folder_ / "cache/packed/abcdef.part", "x");
  const auto writer = cache_.create(kBytes);
  const auto removed = cache_.prune(1 << 20, {});
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->removed, std::vector<std::string>{"abcdef.part"});
  EXPECT_EQ(cache_.prune(0, {})->files_removed, 1U);
  EXPECT_EQ(names("cache/packed").size(), 1U);
  ASSERT_TRUE(cache_.commit(**writer, key("int8")).ok());
}

// Files that others are writing are neither removed nor counted.
TEST_F(PackedCacheTest, WritersAreNotPackedWeights) {
  keep(key("float32"), 1);
  const auto writer = cache_.create(kBytes);
  const auto check = [&](std::uint64_t bytes_max, std::uint64_t left, std::uint64_t removed) {
    const auto report = cache_.prune(bytes_max, {});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->bytes_left, left) << bytes_max;
    EXPECT_EQ(report->files_removed, removed) << bytes_max;
  };
  check(kFileBytes, kFileBytes, 0);
  check(0, 0, 1);
  EXPECT_EQ(names("cache/packed").size(), 1U);
}

// A folder that find() would not use is not listed, and nothing in it is removed.
TEST_F(PackedCacheTest, AForeignFolderIsNotCleaned) {
  const fs::path path = keep(key("float32"), 1);
  const fs::path packed = path.parent_path();
  testing::write_file(packed / "abcdef.part", "x");
  const auto check = [&](const char* what) {
    const auto listed = cache_.list();
    const auto pruned = cache_.prune(0, {});
    ASSERT_FALSE(listed.ok() || pruned.ok()) << what;
    for (const Error& error : {listed.error(), pruned.error()}) {
      EXPECT_EQ(error.code, ErrorCode::kIo);
      for (const std::string& part : {packed.string(), std::string(what), std::string("0700")}) {
        EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
      }
    }
    EXPECT_EQ(found(key("float32")), -1) << what;
    EXPECT_TRUE(fs::exists(path) && fs::exists(packed / "abcdef.part")) << what;
  };
  ::chmod(packed.c_str(), 0755);
  check("open to others");
  ::chmod(packed.c_str(), 0700);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(packed.c_str(), 12345, 0), 0);
    check("another user");
    ASSERT_EQ(::chown(packed.c_str(), 0, 0), 0);
  }
  fs::rename(packed, folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", packed);
  check("a link");
}

TEST_F(PackedCacheTest, OnlyNamesOfItsOwnAreListedOrRemoved) {
  const std::string digits(32, 'a');
  const auto check = [&](const std::string& name, bool own) {
    testing::write_file(folder_ / "cache/packed" / name, "x");
    EXPECT_EQ(cache_.list()->files, own ? 1U : 0U) << name;
    EXPECT_EQ(cache_.prune(0, {})->files_removed, own ? 1U : 0U) << name;
    EXPECT_EQ(names("cache/packed").contains(name), !own) << name;
    fs::remove(folder_ / "cache/packed" / name);
  };
  { const auto writer = cache_.create(kBytes); }  // makes the folder
  check(digits + ".packed", true);
  check("aB3xyz.part", true);
  check("mine.packed", false);
  check(digits + "a.packed", false);
  check(std::string(32, 'A') + ".packed", false);
  check(digits, false);
  check("video.part", false);
  check("a-b_cd.part", false);
  check(".part", false);
}

TEST_F(PackedCacheTest, WhatFindWouldNotUseIsNotTrusted) {
  const fs::path path = keep(key("float32"), 1);
  EXPECT_TRUE(cache_.list()->entries.front().trusted);
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(cache_.list()->entries.front().trusted);
  ASSERT_TRUE(cache_.prune(0, {}).ok());
  const auto writer = cache_.create(kBytes);
  EXPECT_FALSE(cache_.list()->entries.front().trusted);
}

// The next start that looks for weights cleans up, also where it finds them and packs nothing.
TEST_F(PackedCacheTest, AStartRemovesWhatTheDeadLeft) {
  keep(key("float32"), 1);
  const auto writer = cache_.create(kBytes);
  for (const char* name : {"abcdef.part", "ghijkl.part"}) {
    testing::write_file(folder_ / "cache/packed" / name, "x");
  }
  testing::write_file(folder_ / "cache/packed/notes.txt", "mine");
  EXPECT_EQ(found(key("float32")), 1);
  const auto left = names("cache/packed");
  EXPECT_EQ(left.size(), 3U);
  EXPECT_TRUE(left.contains("notes.txt"));
  EXPECT_FALSE(left.contains("abcdef.part") || left.contains("ghijkl.part"));
  EXPECT_EQ(log_.all, "");
}

// In memory for three files, however many there are: the three that the order asks for.
TEST_F(PackedCacheTest, ManyFilesInLittleMemory) {
  PackedCache small({folder_ / "cache", 1 << 20, 3}, log_);
  std::vector<fs::path> paths;
  for (int i = 0; i < 10; ++i) {
    paths.push_back(keep(key("type" + std::to_string(i)), 1));
    age(paths.back(), 1000 + (i * 7) % 10);  // 0 7 4 1 8 5 2 9 6 3
  }
  const auto listing = small.list();
  ASSERT_EQ(listing->entries.size(), 3U);
  EXPECT_EQ(listing->entries[0].path, paths[0]);
  EXPECT_EQ(listing->entries[1].path, paths[3]);
  EXPECT_EQ(listing->entries[2].path, paths[6]);
  EXPECT_EQ(listing->files, 10U);
  EXPECT_EQ(listing->bytes, 10 * kFileBytes);
  const auto report = small.prune(2 * kFileBytes, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->files_removed, 8U);
  EXPECT_EQ(report->removed, (std::vector<std::string>{paths[0].filename(), paths[3].filename(),
                                                       paths[6].filename()}));
  EXPECT_EQ(report->bytes_left, 2 * kFileBytes);
  EXPECT_TRUE(fs::exists(paths[4]) && fs::exists(paths[7]));
}

TEST_F(PackedCacheTest, CommitKeepsTheFolderUnderItsLimit) {
  PackedCache small({folder_ / "cache", kBytes + PackedCache::kHeaderBytes}, log_);
  keep(key("float32"), 1);
  auto writer = small.create(kBytes);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(small.commit(**writer, key("int8")).ok());
  EXPECT_EQ(small.list()->files, 1U);
  EXPECT_EQ(found(key("float32")), -1);
}

}  // namespace
}  // namespace layard::backends::cpu
