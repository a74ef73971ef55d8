#include "decision/calibration_file.h"

#include <gtest/gtest.h>

#include "base/python_random.h"

namespace layard::decision {
namespace {

const std::string kHash(64, 'a');

TEST(CalibrationFile, ReadsUpstreamsOwn) {
  const auto file = parse_calibration_file(
      R"({"version": 2, "temperature": [1.5, 0.5, 2], "temperature_by_options": {"choice:3-5": 3},)"
      R"( "model_id_or_path": "org/name", "subfolder": null, "config": {"encoder": "x"}})");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->model, "org/name");
  EXPECT_EQ(file->weights_sha256, "");
  EXPECT_EQ(file->calibration.temperature(QuestionType::kChoice, 4), 3);
  EXPECT_EQ(file->calibration.temperature(QuestionType::kChoice, 7), 1.5);
  EXPECT_EQ(file->calibration.temperature(QuestionType::kNoul, 2), 2);
  EXPECT_EQ(file->calibration.warning(), "");
  EXPECT_EQ(file->calibration.answer_confidence(QuestionType::kChoice, 4, 0.3), 0.3);
  EXPECT_EQ(file->temperature_by_options.size(), 1U);
}

TEST(CalibrationFile, ReadsOurMember) {
  const auto file = parse_calibration_file(
      R"({"version": 2, "temperature": [1, 1, 9], "layard": {"weights_sha256": ")" + kHash +
      R"(", "more": 1}})");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->weights_sha256, kHash);
  EXPECT_EQ(file->calibration.temperature(QuestionType::kNoul, 2), 5);
  EXPECT_EQ(file->calibration.warning(),
            "laya: the calibration file has invalid temperatures or values outside [0.5, 5]; "
            "using temperature[2]=9 -> 5. Treat confidence from the affected entries as "
            "uncalibrated.");
}

TEST(CalibrationFile, BinningMapReplacesConfidence) {
  const auto file = parse_calibration_file(
      R"({"version": 2, "temperature": [1, 1, 1],)"
      R"( "binning_map": {"noul:2": {"bins": 4, "values": [0.1, 0.2, 0.6, 0.9]}}})");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto check = [&](double largest, double expected) {
    EXPECT_EQ(file->calibration.answer_confidence(QuestionType::kNoul, 2, largest), expected)
        << largest;
  };
  check(0.0, 0.1);
  check(0.24, 0.1);
  check(0.25, 0.2);
  check(0.5, 0.6);
  check(0.75, 0.9);
  check(1.0, 0.9);
  EXPECT_EQ(file->calibration.answer_confidence(QuestionType::kScore, 2, 0.5), 0.5);
}

// A damaged file is read, with temperatures in their bounds, or refused.
TEST(CalibrationFile, DamagedFiles) {
  const std::string whole =
      R"({"version": 2, "temperature": [1, 2, 3], "temperature_by_options": {"noul:2": 1.5},)"
      R"( "binning_map": {"noul:2": {"bins": 2, "values": [0.25, 0.75]}},)"
      R"( "layard": {"weights_sha256": ")" +
      kHash + R"("}})";
  base::PythonRandom random(12);
  std::size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    text[random.below(static_cast<std::uint32_t>(text.size()))] =
        static_cast<char>(random.below(256));
    const auto file = parse_calibration_file(text);
    if (!file.ok()) {
      ++refused;
      ASSERT_TRUE(file.error().message.starts_with("calibration JSON ")) << file.error().message;
      continue;
    }
    const double temperature = file->calibration.temperature(QuestionType::kNoul, 2);
    ASSERT_TRUE(temperature >= kTemperatureMin && temperature <= kTemperatureMax) << text;
    const double confidence = file->calibration.answer_confidence(QuestionType::kNoul, 2, 0.9);
    ASSERT_TRUE(confidence >= 0 && confidence <= 1) << text;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 3000U);
}

TEST(CalibrationFile, Refusals) {
  const auto check = [](const std::string& text, const std::string& part) {
    const auto file = parse_calibration_file(text);
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidRequest);
    EXPECT_TRUE(file.error().message.starts_with("calibration JSON ")) << file.error().message;
    EXPECT_NE(file.error().message.find(part), std::string::npos) << file.error().message;
  };
  const auto with = [](const std::string& members) {
    return R"({"version": 2, "temperature": [1, 1, 1], )" + members + "}";
  };
  check("{", "cannot be read");
  check("[]", "must be an object, got a list");
  check(R"({"temperature": [1, 1, 1]})", "version must be 2, got none");
  check(R"({"version": 1, "temperature": [1, 1, 1]})", "version must be 2, got 1");
  check(R"({"version": "2", "temperature": [1, 1, 1]})", "version must be 2, got '2'");
  check(R"({"version": 2})", "must have temperature");
  check(R"({"version": 2, "temperature": [1, 1]})", "temperature must be a list of 3 floats");
  check(with(R"("temperature_by_options": [])"), "must be an object of bucket");
  check(with(R"("binning_map": 1)"), "binning_map must be an object");
  check(with(R"("binning_map": {"noul:2": {"bins": 2, "values": [1]}})"), "['noul:2'] must be");
  check(with(R"("binning_map": {"noul:2": {"bins": 0, "values": []}})"), "n from 1 to 1000");
  check(with(R"("binning_map": {"noul:2": {"bins": 1, "values": [1.5]}})"), "got 1.5");
  check(with(R"("layard": [])"), "layard must be an object");
  check(with(R"("layard": {"weights_sha256": "abc"})"), "64 lower-case hex digits");
}

}  // namespace
}  // namespace layard::decision
