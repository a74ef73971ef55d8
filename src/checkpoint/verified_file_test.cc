#include "checkpoint/verified_file.h"

#include <gtest/gtest.h>

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

// With a stamp for exactly this path, size and time the file is not read again.
TEST_F(VerifiedFileTest, StampSparesTheHash) {
  ASSERT_TRUE(verify().ok());
  const auto time = fs::last_write_time(file_);
  write_file(file_, "CONTENT");
  fs::last_write_time(file_, time);
  EXPECT_TRUE(verify().ok());
  fs::last_write_time(file_, time + std::chrono::nanoseconds(1'000'000));
  EXPECT_EQ(verify().error().code, ErrorCode::kArtifactRevision);
  write_file(file_, "content and more");
  fs::last_write_time(file_, time);
  EXPECT_EQ(verify().error().code, ErrorCode::kArtifactRevision);
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
  const auto time = fs::last_write_time(file_);
  write_file(file_, "CONTENT");
  fs::last_write_time(file_, time);
  EXPECT_EQ(*file_sha256(store_, file_, {}), hash_);  // the stamp is still true of the file
  fs::last_write_time(file_, time + std::chrono::nanoseconds(1'000'000));
  EXPECT_EQ(*file_sha256(store_, file_, {}), base::sha256_hex("CONTENT"));
  for (const char* stamp : {"", "{}", "[]", "{\"sha256\":5}", "{\"sha256\":\"x\"}"}) {
    write_file(store_.stamp_path(fs::canonical(file_)), stamp);
    EXPECT_EQ(*file_sha256(store_, file_, {}), base::sha256_hex("CONTENT")) << stamp;
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
