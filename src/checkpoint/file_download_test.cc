// What one file leaves in blobs/; the whole download is tested in download_test.cc.
#include "checkpoint/file_download.h"

#include <gtest/gtest.h>

#include "hub/hub_world.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::HubWorld;
using testing::write_file;

class FileDownloadTest : public ::testing::Test {
 protected:
  FileDownloadTest() { fs::create_directories(world_.paths.blobs); }
  FileDownload weights() {
    return {world_.spec, world_.spec.weights(), world_.access, world_.paths.blobs};
  }
  fs::path incomplete() const {
    return world_.paths.blobs / "layard-0123456789ab-model.safetensors.incomplete";
  }
  HubWorld world_;
};

TEST_F(FileDownloadTest, BlobIsNamedByItsContent) {
  const auto sha256 = weights().run();
  ASSERT_TRUE(sha256.ok()) << sha256.error().message;
  EXPECT_EQ(*sha256, base::sha256_hex(world_.weights()));
  EXPECT_EQ(testing::read_file(world_.paths.blobs / *sha256), world_.weights());
  EXPECT_TRUE(world_.unfinished().empty());
}

TEST_F(FileDownloadTest, KeepsOnlyPartsItCanVouchFor) {
  EXPECT_EQ(*weights().bytes_kept(), 0U);
  write_file(incomplete(), "12345");
  EXPECT_EQ(*weights().bytes_kept(), 0U);  // no ETag
  write_file(incomplete().string() + ".etag", "W/\"weak\"");
  EXPECT_EQ(*weights().bytes_kept(), 0U);
  write_file(incomplete().string() + ".etag", "\"strong\"");
  EXPECT_EQ(*weights().bytes_kept(), 5U);
  write_file(incomplete(), world_.weights() + "x");
  EXPECT_EQ(*weights().bytes_kept(), 0U);  // over the limit
}

// Killed after the last byte and before the rename: nothing has to be fetched.
TEST_F(FileDownloadTest, CompletePartNeedsNoRequest) {
  write_file(incomplete(), world_.weights());
  write_file(incomplete().string() + ".etag", "\"strong\"");
  ASSERT_TRUE(weights().run().ok());
  EXPECT_EQ(world_.hub.request_count(), 0U);
}

// A part that does not belong to the file is found out by the hash and thrown away.
TEST_F(FileDownloadTest, ForeignPartIsFoundOut) {
  write_file(incomplete(), std::string(5000, 'f'));
  world_.hub.serve(world_.url_path("model.safetensors"),
                   testing::HubFile{world_.weights(), "\"strong\""});
  write_file(incomplete().string() + ".etag", "\"strong\"");
  const auto first = weights().run();
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::kArtifactRevision);
  EXPECT_TRUE(world_.unfinished().empty());
  EXPECT_TRUE(weights().run().ok());
}

}  // namespace
}  // namespace layard::checkpoint
