#include "runtime/resolve.h"

#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Resolve = testing::TinyModel;

TEST_F(Resolve, FolderGetsItsHashAsRevision) {
  const auto identity = resolve_model(options());
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  EXPECT_EQ(identity->weights_sha256.size(), 64U);
  EXPECT_EQ(identity->revision, "sha256:" + identity->weights_sha256.substr(0, 12));
  EXPECT_FALSE(identity->remapped);
}

TEST_F(Resolve, HashIsRememberedAndFollowsTheFile) {
  ModelOptions cached = options();
  cached.environment.cache_dir = (folder_ / "cache").string();
  const auto first = resolve_model(cached);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "cache/stamps"));
  EXPECT_EQ(resolve_model(cached)->weights_sha256, first->weights_sha256);
  testing::TinyOptions other;
  other.seed = 2;
  testing::write_tiny_checkpoint(folder_.path(), other);
  std::filesystem::last_write_time(
      folder_ / "model.safetensors",
      std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_NE(resolve_model(cached)->weights_sha256, first->weights_sha256);
}

TEST_F(Resolve, NamesOfAModelsFileSayThatTheyAreMapped) {
  testing::write_file(folder_ / "models.json", R"({"laya": ")" + folder_.path().string() + R"("})");
  ModelOptions mapped = options();
  mapped.model = "laya";
  mapped.environment.models_file = (folder_ / "models.json").string();
  const auto identity = resolve_model(mapped);
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  EXPECT_EQ(identity->name, "laya");
  EXPECT_TRUE(identity->remapped);
  auto model = Model::open(mapped);
  ASSERT_TRUE(model.ok());
  EXPECT_NE(log_.find("not to its pinned weights"), std::string::npos) << log_;
}

TEST_F(Resolve, OfflineNeedsTheCache) {
  ModelOptions offline = options();
  offline.model = "laya-typed-decisions";
  offline.local_files_only = true;
  offline.environment.hub_cache_dir = (folder_ / "empty").string();
  const auto identity = resolve_model(offline);
  ASSERT_FALSE(identity.ok());
  EXPECT_EQ(identity.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(identity.error().message.find("layard download laya-typed-decisions"),
            std::string::npos);
}

}  // namespace
}  // namespace layard::runtime
