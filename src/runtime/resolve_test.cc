#include "runtime/resolve.h"

#include "checkpoint/registry.h"
#include "runtime/loaded_model.h"
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
  EXPECT_NE(log_.find("not to its own weights"), std::string::npos) << log_;
}

// What is said of the weights behind a name is compared first.
TEST(MappedNames, TheWarningIsTrue) {
  const std::string pin = checkpoint::find_spec("laya")->weights().sha256;
  const auto check = [](const char* name, const std::string& sha256, const char* part) {
    ModelIdentity identity;
    identity.name = name;
    identity.weights_sha256 = sha256;
    EXPECT_NE(mapped_to(identity).find(part), std::string::npos) << mapped_to(identity);
  };
  check("laya", std::string(64, 'a'), "not to its own weights");
  check("laya", pin, "the weights there are its own");
  check("starter", pin, "not to the installed checkpoint");
}

// Whatever is wrong with what a models file names, its entry is named too.
TEST_F(Resolve, ErrorsNameTheEntryOfTheModelsFile) {
  const std::string file = (folder_ / "models.json").string();
  const auto check = [&](const std::string& entry, ErrorCode code, const std::string& part) {
    testing::write_file(file, R"({"mine": )" + entry + "}");
    ModelOptions mapped = options();
    mapped.model = "mine";
    mapped.local_files_only = true;
    mapped.environment.models_file = file;
    mapped.environment.hub_cache_dir = (folder_ / "empty").string();
    const auto model = Model::open(mapped);
    ASSERT_FALSE(model.ok()) << entry;
    EXPECT_EQ(model.error().code, code) << model.error().message;
    EXPECT_TRUE(model.error().message.starts_with("models file '" + file + "': 'mine': "))
        << model.error().message;
    EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
  };
  const std::string hash(64, 'a');
  check(R"("absent")", ErrorCode::kIo, "absent");
  check(R"({"path": ".", "sha256": ")" + hash + R"("})", ErrorCode::kArtifactRevision, "SHA-256");
  check(R"({"repo": "o/r", "revision": "0123456789abcdef0123456789abcdef01234567", "sha256": ")" +
            hash + R"("})",
        ErrorCode::kBackendUnavailable, "layard download mine");
  testing::write_file(folder_ / "encoder/config.json", "{");
  check(R"(".")", ErrorCode::kArtifactIntegrity, "config.json");
}

TEST_F(Resolve, IsRemapped) {
  ModelOptions mapped = options();
  mapped.environment.models_file = (folder_ / "models.json").string();
  testing::write_file(folder_ / "models.json", R"({"laya": ".", "starter": ".", "mine": "."})");
  const auto check = [&](const std::string& model, bool expected) {
    mapped.model = model;
    EXPECT_EQ(is_remapped(mapped), expected) << model;
  };
  check("laya", true);
  check("english", true);
  check("starter", true);
  check("mine", false);
  check("laya-multilingual", false);
  check("nope", false);
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
