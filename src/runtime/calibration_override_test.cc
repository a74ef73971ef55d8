#include "runtime/calibration_override.h"

#include <algorithm>

#include "layard/router.h"
#include "layard/service.h"
#include "runtime/resolve.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

class CalibrationOverride : public testing::TinyModel {
 protected:
  // The file with these members, behind version and temperatures of 5.
  std::string file(const std::string& members) {
    const std::string path = (folder_.path() / "calibration.json").string();
    testing::write_file(path, R"({"version": 2, "temperature": [5, 5, 5])" + members + "}");
    return path;
  }

  std::string own_hash() { return resolve_model(options())->weights_sha256; }

  ModelOptions with_file(const std::string& members) {
    ModelOptions out = options();
    out.calibration_file = file(members);
    return out;
  }

  static std::string fitted_on(const std::string& hash) {
    return R"(, "layard": {"weights_sha256": ")" + hash + R"("})";
  }

  static double confidence(Model& model) {
    State state;
    state.text = "some text";
    const auto questions = parse_questions(R"(["Is it so?"])", {});
    const auto found = model.predict(state, *questions, {});
    EXPECT_TRUE(found.ok()) << found.error().message;
    return std::get<NoulAnswer>(found->answers.answers[0].value).answer_confidence;
  }
};

TEST_F(CalibrationOverride, ReplacesTheTemperatures) {
  const auto own = open();
  const auto other = Model::open(with_file(fitted_on(own_hash())));
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ(log_, "");
  EXPECT_GT(confidence(*own), confidence(**other));
  const auto info = base::parse_json((*other)->info_json(), {});
  EXPECT_EQ(info->find("calibration")->text(), (folder_.path() / "calibration.json").string());
  EXPECT_EQ(own->info_json().find("calibration"), std::string::npos);
}

TEST_F(CalibrationOverride, BinningMapIsApplied) {
  const auto model = Model::open(with_file(
      fitted_on(own_hash()) + R"(, "binning_map": {"noul:2": {"bins": 1, "values": [0.25]}})"));
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(confidence(**model), 0.25);
}

TEST_F(CalibrationOverride, OtherWeightsAreRefusedNamingBoth) {
  const std::string other(64, 'b');
  const auto model = Model::open(with_file(fitted_on(other)));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::kArtifactRevision);
  EXPECT_NE(model.error().message.find(other), std::string::npos) << model.error().message;
  EXPECT_NE(model.error().message.find(own_hash()), std::string::npos) << model.error().message;
}

TEST_F(CalibrationOverride, WithoutHashOneWarning) {
  const auto model = Model::open(with_file(R"(, "model_id_or_path": "org/name")"));
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_NE(log_.find("does not say which weights it was fitted on (it names 'org/name')"),
            std::string::npos)
      << log_;
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
}

TEST_F(CalibrationOverride, MalformedAndAbsent) {
  const auto malformed = Model::open(with_file(R"(, "layard": 1)"));
  ASSERT_FALSE(malformed.ok());
  EXPECT_EQ(malformed.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(malformed.error().message.find("calibration.json': calibration JSON layard must"),
            std::string::npos)
      << malformed.error().message;
  ModelOptions absent = options();
  absent.calibration_file = (folder_.path() / "absent.json").string();
  EXPECT_EQ(Model::open(absent).error().code, ErrorCode::kIo);
}

TEST_F(CalibrationOverride, InfoSaysWhetherItMatches) {
  const auto matches = [this](const std::string& members) {
    const auto info = calibration_info(with_file(members));
    EXPECT_TRUE(info.ok()) << info.error().message;
    return write_json(*info->find("matches"), base::JsonStyle::kCompact);
  };
  EXPECT_EQ(matches(fitted_on(own_hash())), "true");
  EXPECT_EQ(matches(fitted_on(std::string(64, 'b'))), "false");
  EXPECT_EQ(matches(""), "null");
}

TEST_F(CalibrationOverride, AServiceKeepsItToItsOwnModel) {
  testing::TinyOptions tiny;
  tiny.seed = 2;
  const auto other = folder_.path() / "other";
  testing::write_tiny_checkpoint(other, tiny);
  ServiceOptions service;
  service.checkpoints = with_file(fitted_on(own_hash()));
  service.model = folder_.path().string();
  service.preload = {other.string()};
  const auto opened = DecisionService::open(service);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  service.model = other.string();
  service.preload = {};
  EXPECT_EQ(DecisionService::open(service).error().code, ErrorCode::kArtifactRevision);
}

TEST_F(CalibrationOverride, BelongsToOneCheckpoint) {
  EXPECT_EQ(check_one_calibration("x", "Auto").error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(check_one_calibration("x", "laya").ok());
  EXPECT_TRUE(check_one_calibration("", "auto").ok());
  RouterOptions router;
  router.checkpoints.calibration_file = "x";
  router.checkpoints.lazy = true;
  EXPECT_EQ(LayaRouter::open(router).error().code, ErrorCode::kInvalidRequest);
  ServiceOptions service;
  service.checkpoints.calibration_file = "x";
  service.model = "auto";
  EXPECT_EQ(DecisionService::open(service).error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard::runtime
