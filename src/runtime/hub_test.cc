// Front-door calls about models on disk; the downloads themselves are tested in checkpoint.
#include "hub/hub_world.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Hub = testing::TinyModel;

TEST_F(Hub, TokenizerOfAFolder) {
  const auto path = tokenizer_path({}, false, folder_.path().string());
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_EQ(*path, (folder_ / "tokenizer/tokenizer.json").string());
  EXPECT_EQ(tokenizer_path({}, false, "nope").error().code, ErrorCode::kUnsupportedModel);
}

TEST_F(Hub, DownloadSaysWhyItDoesNotStart) {
  Environment environment;
  environment.hub_cache_dir = (folder_ / "hub").string();
  const auto check = [&](const std::string& model, ErrorCode code) {
    const auto report = download_model(environment, true, model, {});
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, code) << report.error().message;
  };
  check(folder_.path().string(), ErrorCode::kInvalidRequest);
  check("nope", ErrorCode::kUnsupportedModel);
  check("laya", ErrorCode::kBackendUnavailable);
  environment.hub_cache_dir.clear();
  check("laya", ErrorCode::kIo);  // no folder to look into, nor to fetch to
}

// What to do is never the command that says so.
TEST_F(Hub, DownloadOfflineDoesNotNameItself) {
  Environment offline;
  offline.hub_cache_dir = (folder_ / "hub").string();
  offline.hub_offline = true;
  const auto report = download_model(offline, false, "laya", {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message.find("layard download"), std::string::npos)
      << report.error().message;
  for (const char* part : {"--offline", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "offline"}) {
    EXPECT_NE(report.error().message.find(part), std::string::npos) << report.error().message;
  }
}

// Files that are what their names say and do not belong together: only the loader sees that.
TEST_F(Hub, DownloadRepairsWhatTheLoaderRefuses) {
  testing::HubWorld world;
  const std::string config = "encoder/config.json";
  const std::string models = R"({"tiny": {"repo": ")" + world.spec.repo + R"(", "revision": ")" +
                             world.spec.revision + R"(", "sha256": ")" +
                             world.spec.weights().sha256 + R"("}})";
  testing::write_file(folder_ / "models.json", models);
  Environment environment;
  environment.models_file = (folder_ / "models.json").string();
  environment.hub_cache_dir = world.access.options.hub_cache.string();
  environment.cache_dir = world.access.options.layard_cache.string();
  environment.hub_endpoint = world.hub.url();
  world.hub.serve(world.url_path(config), R"({"model_type": "bert"})");
  const auto first = download_model(environment, false, "tiny", {});
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::kUnsupportedModel) << first.error().message;
  EXPECT_NE(first.error().message.find("config.json"), std::string::npos);
  EXPECT_NE(first.error().message.find("HF_ENDPOINT"), std::string::npos);
  EXPECT_EQ(world.hits(config), 2U);
  const auto offline = download_model(environment, true, "tiny", {});
  ASSERT_FALSE(offline.ok());
  EXPECT_NE(offline.error().message.find("network"), std::string::npos) << offline.error().message;

  ModelOptions options;
  options.model = "tiny";
  options.environment = environment;
  const auto model = Model::open(options);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("`layard download tiny`"), std::string::npos)
      << model.error().message;

  world.hub.serve(world.url_path(config), world.content(config));
  const auto second = download_model(environment, false, "tiny", {});
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_TRUE(second->fetched);
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hits("model.safetensors"), 1U);
}

TEST_F(Hub, NamesOfOneModel) {
  testing::write_file(folder_ / "models.json", R"({"mine": ".", "multi": "."})");
  Environment environment;
  environment.models_file = (folder_ / "models.json").string();
  const std::string folder = folder_.path().string();
  const auto check = [&](const std::string& asked, const std::string& opened, bool expected) {
    const auto same = is_same_model(environment, asked, opened);
    ASSERT_TRUE(same.ok()) << same.error().message;
    EXPECT_EQ(*same, expected) << asked << " " << opened;
  };
  check("laya", "laya", true);
  check("english", "laya", true);
  check("convaiinnovations/laya", "default", true);
  check("laya", "typed", false);
  check("auto", " AUTO ", true);
  check("auto", "laya", false);
  check("laya", "auto", false);
  check(folder, folder + "/.", true);
  check("mine", folder, true);
  check("multi", "laya-multilingual", true);
  check("laya", folder, false);
  EXPECT_EQ(is_same_model(environment, "nope", "laya").error().code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(is_same_model(environment, "./nope", "laya").error().code, ErrorCode::kIo);
}

TEST_F(Hub, NamesIncludeTheModelsFile) {
  Environment environment;
  EXPECT_EQ(model_names(environment)->front(), "starter");
  environment.models_file = (folder_ / "models.json").string();
  testing::write_file(environment.models_file, R"({"mine":"."})");
  EXPECT_EQ(model_names(environment)->back(), "mine");
}

}  // namespace
}  // namespace layard::runtime
