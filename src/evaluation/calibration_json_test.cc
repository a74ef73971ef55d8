#include "evaluation/calibration_json.h"

#include <gtest/gtest.h>

#include "decision/calibration_file.h"

namespace layard::evaluation {
namespace {

CalibrationContent content() {
  CalibrationContent out;
  out.model = "starter";
  out.weights_sha256 = std::string(64, 'c');
  out.dtype = "float32";
  out.config = *base::parse_json(
      R"({"encoder": "x", "temperature": [9, 9, 9], "temperature_by_options": {}, "max_len": 5})",
      {});
  out.questions = 3;
  out.temperatures.by_type = {1.25, 1, 2};
  out.temperatures.by_bucket = {{"choice:3-5", 1.5}};
  out.temperatures.clamped = {"noul"};
  out.counted = {{"choice", 2}, {"choice:3-5", 2}, {"noul", 1}, {"noul:2", 1}};
  out.thresholds = {{"choice:3-5", 0.75}};
  return out;
}

TEST(CalibrationJson, UpstreamsMembersThenOurs) {
  const auto json = base::parse_json(calibration_json(content()), {});
  ASSERT_TRUE(json.ok());
  std::string keys;
  for (const auto& member : json->members()) keys += member.key + " ";
  EXPECT_EQ(keys,
            "version temperature temperature_by_options model_id_or_path subfolder config layard ");
  EXPECT_EQ(write_json(*json->find("config"), base::JsonStyle::kCompact),
            R"({"encoder":"x","max_len":5})");
  const base::JsonValue& own = *json->find("layard");
  EXPECT_EQ(own.find("bucket_floor")->as_int64(), 2000);
  EXPECT_EQ(own.find("type_floor")->as_int64(), 10);
  EXPECT_EQ(write_json(*own.find("n_by_bucket"), base::JsonStyle::kCompact),
            R"({"choice:3-5":2,"noul:2":1})");
  EXPECT_EQ(write_json(*own.find("abstention_thresholds"), base::JsonStyle::kCompact),
            R"({"choice:3-5":0.75})");
}

TEST(CalibrationJson, IsReadBack) {
  CalibrationContent given = content();
  given.options.binning_map = true;
  given.binning = {{"noul:2", {0.25, 0.75}}};
  const auto file = decision::parse_calibration_file(calibration_json(given));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->weights_sha256, given.weights_sha256);
  EXPECT_EQ(file->model, "starter");
  EXPECT_EQ(file->calibration.temperature(QuestionType::kChoice, 3), 1.5);
  EXPECT_EQ(file->calibration.temperature(QuestionType::kChoice, 2), 1.25);
  EXPECT_EQ(file->calibration.answer_confidence(QuestionType::kNoul, 2, 0.6), 0.75);
  EXPECT_EQ(file->calibration.warning(), "");
}

}  // namespace
}  // namespace layard::evaluation
