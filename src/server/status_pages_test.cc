#include "server/status_pages.h"

#include <gtest/gtest.h>

#include "layard/version.h"

namespace layard::server {
namespace {

ServedModel served(const char* name, ServedModel::State state, bool is_default) {
  ServedModel model;
  model.name = name;
  model.state = state;
  model.is_default = is_default;
  model.is_preloaded = state != ServedModel::State::kUnloaded;
  return model;
}

ServedModel laya(ServedModel::State state) {
  ServedModel model = served("laya", state, false);
  model.repo = "convaiinnovations/laya";
  model.revision = "0123456789abcdef";
  return model;
}

TEST(ServerStatusPages, Models) {
  std::vector<ServedModel> models = {served("starter", ServedModel::State::kReady, true),
                                     laya(ServedModel::State::kUnloaded)};
  models[0].encoder = "bert";
  models[0].max_length = 512;
  models[0].revision = "sha256:0123456789ab";
  EXPECT_EQ(
      models_json({"starter", "cpu"}, models),
      R"json({"models":[{"name":"starter",)json"
      R"json("description":"a folder on the server@sha256:0123456789ab (bert, 512 tokens)",)json"
      R"json("release_date":"","loaded":true,"default":true},{"name":"laya",)json"
      R"json("description":"convaiinnovations/laya@0123456789ab","release_date":"",)json"
      R"json("loaded":false,"default":false}],"object":"list","data":[{"id":"starter",)json"
      R"json("object":"model","created":0,"owned_by":"layard"},{"id":"laya",)json"
      R"json("object":"model","created":0,"owned_by":"layard"}]})json");
}

TEST(ServerStatusPages, AutoIsLoadedWhenBothAre) {
  std::vector<ServedModel> models = {
      laya(ServedModel::State::kReady),
      served("laya-multilingual", ServedModel::State::kLoading, false)};
  const auto starts_with = [&](const char* expected) {
    const std::string json = models_json({" Auto ", "cpu"}, models);
    EXPECT_EQ(json.substr(0, std::string(expected).size()), expected);
  };
  starts_with(R"({"models":[{"name":"auto","description":"laya or laya-multilingual,)"
              R"( by the text's language","release_date":"","loaded":false,"default":true},)"
              R"({"name":"laya",)");
  models[1].state = ServedModel::State::kReady;
  starts_with(R"({"models":[{"name":"auto","description":"laya or laya-multilingual,)"
              R"( by the text's language","release_date":"","loaded":true,"default":true},)");
}

TEST(ServerStatusPages, Health) {
  const std::vector<ServedModel> models = {served("starter", ServedModel::State::kReady, true),
                                           served("b", ServedModel::State::kReady, false),
                                           served("c", ServedModel::State::kFailed, false),
                                           laya(ServedModel::State::kUnloaded)};
  EXPECT_EQ(health_json({"starter", "auto"}, models, true),
            R"({"status":"ok","version":")" + std::string(version()) +
                R"(","default_model":"starter","loaded":["b","starter"],"device":"auto",)"
                R"("checkpoints":{"starter":"ready","b":"ready","c":"failed"}})");
  EXPECT_EQ(health_json({"starter", "auto"}, models, false), R"({"status":"ok"})");
}

TEST(ServerStatusPages, Ready) {
  const std::vector<ServedModel> models = {served("starter", ServedModel::State::kReady, true),
                                           served("b", ServedModel::State::kLoading, false),
                                           laya(ServedModel::State::kUnloaded)};
  EXPECT_EQ(ready_json(models, false, true),
            R"({"status":"not ready","checkpoints":{"starter":"ready","b":"loading"}})");
  EXPECT_EQ(ready_json(models, true, false), R"({"status":"ready"})");
}

}  // namespace
}  // namespace layard::server
