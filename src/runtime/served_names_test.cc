#include "runtime/served_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::runtime {
namespace {

constexpr const char* kEnglish = "This is the end of it";
constexpr const char* kGerman = "Der Kunde wurde zweimal belastet.";

class ServedNamesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_tiny_checkpoint(folder_.path() / "tiny", {});
    std::ofstream(folder_.path() / "models.json")
        << R"({"laya": "tiny", "mine": "tiny", "laya-multilingual": "tiny"})";
  }

  ServiceOptions options(const std::string& model) {
    ServiceOptions options;
    options.model = model;
    options.checkpoints.environment.models_file = (folder_.path() / "models.json").string();
    return options;
  }

  static Request request(const std::string& model, const std::string& text) {
    Request request;
    request.state.text = text;
    if (!model.empty()) request.model = model;
    return request;
  }

  testing::TempDir folder_;
};

TEST_F(ServedNamesTest, EveryWordMeansACheckpoint) {
  const auto names = ServedNames::open(options("auto"));
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_FALSE(names->default_index().has_value());
  const auto check = [&](const std::string& model, const char* text, const char* checkpoint,
                         const char* reason) {
    const auto found = names->route(request(model, text));
    ASSERT_TRUE(found.ok()) << model;
    EXPECT_EQ(found->route.checkpoint, checkpoint) << model;
    EXPECT_EQ(names->targets()[found->index].name, checkpoint) << model;
    EXPECT_EQ(found->route.reason.starts_with(reason), true) << model << found->route.reason;
    EXPECT_EQ(found->route.detection.has_value(), *reason == '\0') << model;
  };
  check("", kEnglish, "laya", "");
  check("", kGerman, "laya-multilingual", "");
  check("  ", kGerman, "laya-multilingual", "");
  check("AUTO", kGerman, "laya-multilingual", "");
  check("jev-1.14.0", kGerman, "laya-multilingual", "");
  check("gpt-5", kEnglish, "laya", "");
  check("../etc/passwd", kEnglish, "laya", "");
  check("convaiinnovations/laya", kGerman, "laya-multilingual", "");
  check("english", kGerman, "laya", "explicit model='english'");
  check(" EN ", kGerman, "laya", "explicit model='english'");
  check("ml", kEnglish, "laya-multilingual", "explicit model='multilingual'");
  check("convaiinnovations/laya-multilingual", kEnglish, "laya-multilingual", "explicit model=");
  check("typed", kEnglish, "laya-typed-decisions", "explicit model='typed-decisions'");
  check("Mine", kGerman, "mine", "explicit model='mine'");
}

TEST_F(ServedNamesTest, TheOperatorsFolderIsTheDefaultAndHasItsOwnName) {
  const std::string folder = (folder_.path() / "tiny").string();
  ServiceOptions one = options(folder);
  one.preload = {"laya", "auto", folder};
  const auto names = ServedNames::open(one);
  ASSERT_TRUE(names.ok()) << names.error().message;
  ASSERT_TRUE(names->default_index().has_value());
  EXPECT_EQ(names->targets()[*names->default_index()].name, folder);
  EXPECT_EQ(names->preloaded().size(), 3U);  // the folder, laya, laya-multilingual: each once
  EXPECT_EQ(names->preloaded().front(), *names->default_index());
  EXPECT_EQ(names->route(request("", kGerman))->route.checkpoint, folder);
  EXPECT_EQ(names->route(request("jev-latest", kGerman))->route.reason,
            "server default model (--model " + folder + ")");
  // `auto` can be asked for also where it is not the default.
  EXPECT_EQ(names->route(request("auto", kGerman))->route.checkpoint, "laya-multilingual");
}

TEST_F(ServedNamesTest, UnknownNamesOfTheOperatorAreRefused) {
  EXPECT_EQ(ServedNames::open(options("no-such-model")).error().code, ErrorCode::kUnsupportedModel);
  ServiceOptions preload = options("auto");
  preload.preload = {"no-such-model"};
  EXPECT_EQ(ServedNames::open(preload).error().code, ErrorCode::kUnsupportedModel);
  ServiceOptions fallback = options("auto");
  fallback.default_model = "no-such-model";
  EXPECT_EQ(ServedNames::open(fallback).error().code, ErrorCode::kUnsupportedModel);
  // Where `auto` is not the default, that only closes `auto`.
  fallback.model = "laya";
  const auto names = ServedNames::open(fallback);
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_EQ(names->route(request("auto", kEnglish)).error().code, ErrorCode::kBackendUnavailable);
}

}  // namespace
}  // namespace layard::runtime
