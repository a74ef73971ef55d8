#include "base/sha256.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace layard::base {
namespace {

// Vectors of FIPS 180-2, appendix B, and of the empty text.
const std::string kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256_hex(""), kEmpty);
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')), kMillionA);
}

TEST(Sha256, PiecesAndLooksInBetween) {
  Sha256 hash;
  EXPECT_EQ(hash.hex(), kEmpty);
  hash.update("a");
  EXPECT_EQ(hash.hex(), sha256_hex("a"));
  hash.update("bc");
  const Sha256 moved = std::move(hash);
  EXPECT_EQ(moved.hex(), kAbc);
}

TEST(Sha256, Files) {
  const testing::TempDir folder;
  const std::string text(3'000'001, 'x');
  testing::write_file(folder / "f", text);
  EXPECT_EQ(*sha256_file(folder / "f", {}), sha256_hex(text));
  EXPECT_EQ(sha256_file(folder / "absent", {}).error().code, ErrorCode::kIo);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(sha256_file(folder / "f", stop.get_token()).error().code, ErrorCode::kCancelled);
}

TEST(Sha256, HexForm) {
  EXPECT_TRUE(is_sha256_hex(kAbc));
  EXPECT_FALSE(is_sha256_hex(kAbc.substr(1)));
  EXPECT_FALSE(is_sha256_hex("B" + kAbc.substr(1)));
  EXPECT_FALSE(is_sha256_hex("g" + kAbc.substr(1)));
}

}  // namespace
}  // namespace layard::base
