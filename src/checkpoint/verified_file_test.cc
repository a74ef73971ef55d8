#include "checkpoint/verified_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "base/sha256.h"
#include "support/temp_dir.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;
using testing::write_file;

class CountingLog final : public base::LogSink {
 public:
  void write(base::LogLevel, std::string_view) override { ++count; }
  int count = 0;
};

class VerifiedFileTest : public ::testing::Test {
 protected:
  VerifiedFileTest() { write_file(file_, "content"); }
  Status verify() { return verify_sha256(store_, file_, hash_, {}); }
  // The system stamps files with a clock that ticks every few milliseconds.
  void wait_for_tick() {
    const auto tick = [&] {
      write_file(folder_ / "tick", "");
      return (*base::real_filesystem().stat(folder_ / "tick"))->ctime_ns;
    };
    for (const auto first = tick(); tick() == first;) {
    }
  }

  TempDir folder_;
  fs::path file_ = folder_ / "f";
  std::string hash_ = base::sha256_hex("content");
  CountingLog log_;
  StampStore store_{base::real_filesystem(), folder_ / "cache", log_};
};

TEST_F(VerifiedFileTest, RightAndWrongHash) {
  EXPECT_TRUE(verify().ok());
  EXPECT_TRUE(fs::exists(store_.stamp_path(fs::canonical(file_))));
  const Status wrong = verify_sha256(store_, file_, base::sha256_hex("other"), {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::kArtifactRevision);
  EXPECT_NE(wrong.error().message.find(hash_), std::string::npos);
  EXPECT_NE(wrong.error().message.find(base::sha256_hex("other")), std::string::npos);
  EXPECT_EQ(verify_sha256(store_, folder_ / "absent", hash_, {}).error().code, ErrorCode::kIo);
  EXPECT_EQ(verify_sha256(store_, folder_.path(), hash_, {}).error().code, ErrorCode::kIo);
}

// With a stamp for exactly this state of the file it is not read again: a wrong stamp is believed.
TEST_F(VerifiedFileTest, StampSparesTheHash) {
  const std::string other = base::sha256_hex("other");
  write_stamp(store_, file_, other);
  EXPECT_TRUE(verify_sha256(store_, file_, other, {}).ok());
  EXPECT_EQ(*file_sha256(store_, file_, {}), other);
}

// Whatever is done to a file, also when its time is put back, it is read again.
TEST_F(VerifiedFileTest, EveryChangeIsSeen) {
  const Mark mark{"seen", "1"};
  const auto check = [&](const std::string& what, const std::function<void()>& change) {
    fs::remove(file_);
    write_file(file_, "content");
    ASSERT_TRUE(verify().ok()) << what;
    set_mark(store_, file_, mark);
    ASSERT_TRUE(has_mark(store_, file_, mark)) << what;
    const auto time = fs::last_write_time(file_);
    wait_for_tick();
    change();
    fs::last_write_time(file_, time);
    EXPECT_EQ(verify().error().code, ErrorCode::kArtifactRevision) << what;
    EXPECT_NE(*file_sha256(store_, file_, {}), hash_) << what;
    EXPECT_FALSE(has_mark(store_, file_, mark)) << what;
  };
  check("in place", [&] { write_file(file_, "CONTENT"); });
  check("longer", [&] { write_file(file_, "content and more"); });
  check("replaced", [&] {
    write_file(folder_ / "new", "CONTENT");
    fs::rename(folder_ / "new", file_);
  });
}

// Stamps of others, and those that others may read or write, vouch for nothing.
TEST_F(VerifiedFileTest, OnlyThisUsersOwnStampsCount) {
  const std::string other = base::sha256_hex("other");
  const Mark mark{"seen", "1"};
  const fs::path stamp = store_.stamp_path(fs::canonical(file_));
  const fs::path mark_stamp = store_.mark_path(fs::canonical(file_), "seen");
  const auto check = [&](const std::string& what, bool counts) {
    EXPECT_EQ(verify_sha256(store_, file_, other, {}).ok(), counts) << what;
    EXPECT_EQ(has_mark(store_, file_, mark), counts) << what;
    EXPECT_EQ(*file_sha256(store_, file_, {}), counts ? other : hash_) << what;
  };
  const auto renew = [&] {
    write_stamp(store_, file_, other);
    set_mark(store_, file_, mark);
  };
  const mode_t before = ::umask(0);
  renew();
  ::umask(before);
  EXPECT_EQ(fs::status(stamp).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(stamp.parent_path()).permissions(), fs::perms::owner_all);
  check("own", true);
  for (const mode_t mode : {0644, 0602, 0660}) {
    for (const fs::path& path : {stamp, mark_stamp}) ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    check("file " + std::to_string(mode), false);
    renew();  // in their place
    check("renewed", true);
  }
  for (const mode_t mode : {0755, 0720, 0707}) {
    ASSERT_EQ(::chmod(stamp.parent_path().c_str(), mode), 0);
    log_.count = 0;
    check("folder " + std::to_string(mode), false);
    EXPECT_GT(log_.count, 0) << "it is said why nothing is remembered";
    ASSERT_EQ(::chmod(stamp.parent_path().c_str(), 0700), 0);
    check("folder closed again", true);
  }
  fs::rename(stamp, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", stamp);
  EXPECT_FALSE(verify_sha256(store_, file_, other, {}).ok());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  for (const fs::path& path : {stamp, stamp.parent_path()}) {
    renew();
    check("own again", true);
    ASSERT_EQ(::chown(path.c_str(), 4711, 4711), 0);
    EXPECT_FALSE(verify_sha256(store_, file_, other, {}).ok()) << path;
    EXPECT_EQ(has_mark(store_, file_, mark), path == stamp) << path;
  }
}

TEST_F(VerifiedFileTest, StampOfAnotherHashDoesNotCount) {
  ASSERT_TRUE(verify().ok());
  EXPECT_FALSE(verify_sha256(store_, file_, std::string(64, '0'), {}).ok());
}

TEST_F(VerifiedFileTest, LinksShareTheStampOfTheirFile) {
  fs::create_symlink("f", folder_ / "link");
  ASSERT_TRUE(verify_sha256(store_, folder_ / "link", hash_, {}).ok());
  EXPECT_TRUE(fs::exists(store_.stamp_path(fs::canonical(file_))));
}

TEST_F(VerifiedFileTest, WithoutAPlaceForStamps) {
  StampStore none{base::real_filesystem(), {}, log_};
  EXPECT_TRUE(verify_sha256(none, file_, hash_, {}).ok());
  write_stamp(none, file_, hash_);
  EXPECT_EQ(log_.count, 0);
  write_file(folder_ / "cache", "a file where the folder should be");
  EXPECT_TRUE(verify().ok());
  EXPECT_EQ(log_.count, 1);
}

TEST_F(VerifiedFileTest, DamagedStampIsIgnored) {
  ASSERT_TRUE(verify().ok());
  write_file(store_.stamp_path(fs::canonical(file_)), "{\"path\":");
  EXPECT_TRUE(verify().ok());
  EXPECT_FALSE(verify_sha256(store_, file_, std::string(64, '0'), {}).ok());
}

TEST_F(VerifiedFileTest, WrittenStampIsUsed) {
  write_stamp(store_, file_, std::string(64, '0'));
  EXPECT_TRUE(verify_sha256(store_, file_, std::string(64, '0'), {}).ok());
  write_stamp(store_, folder_ / "absent", hash_);
  EXPECT_EQ(log_.count, 0);
}

TEST_F(VerifiedFileTest, HashIsRemembered) {
  EXPECT_EQ(*file_sha256(store_, file_, {}), hash_);
  const fs::path stamp = store_.stamp_path(fs::canonical(file_));
  const auto inode = [&] { return (*base::real_filesystem().stat(stamp))->inode; };
  const auto first = inode();
  EXPECT_EQ(*file_sha256(store_, file_, {}), hash_);
  EXPECT_EQ(inode(), first) << "it was computed and stamped again";
  for (const char* text : {"", "{}", "[]", "{\"sha256\":5}", "{\"sha256\":\"x\"}"}) {
    ASSERT_TRUE(base::write_private_atomically(base::real_filesystem(), stamp, text).ok());
    EXPECT_EQ(*file_sha256(store_, file_, {}), hash_) << text;
  }
  EXPECT_EQ(file_sha256(store_, folder_ / "absent", {}).error().code, ErrorCode::kIo);
}

TEST_F(VerifiedFileTest, Cancelled) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(verify_sha256(store_, file_, hash_, stop.get_token()).error().code,
            ErrorCode::kCancelled);
}

}  // namespace
}  // namespace layard::checkpoint
