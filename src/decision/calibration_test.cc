#include "decision/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace layard::decision {
namespace {

TEST(Calibration, Buckets) {
  const auto check = [](QuestionType type, std::size_t options, const char* expected) {
    EXPECT_EQ(temperature_bucket(type, options), expected);
  };
  check(QuestionType::kChoice, 1, "choice:2");
  check(QuestionType::kChoice, 2, "choice:2");
  check(QuestionType::kChoice, 3, "choice:3-5");
  check(QuestionType::kScore, 5, "score:3-5");
  check(QuestionType::kScore, 6, "score:6-10");
  check(QuestionType::kChoice, 10, "choice:6-10");
  check(QuestionType::kChoice, 11, "choice:11+");
  check(QuestionType::kNoul, 2, "noul:2");
}

TEST(Calibration, Clamp) {
  const auto check = [](const char* json, double expected) {
    const auto value = base::parse_json(json, base::JsonLimits{});
    ASSERT_TRUE(value.ok()) << json;
    EXPECT_EQ(clamp_temperature(*value), expected) << json;
  };
  check("0.1", 0.5);
  check("9", 5);
  check("-3", 0.5);
  check("1.76", 1.76);
  check("0.5", 0.5);
  check("5.0", 5);
  check("true", 1);
  check("false", 1);
  check("null", 1);
  check("[]", 1);
  check("{}", 1);
  check("1e999", 1);
  check("-1e999", 1);
  check(R"("")", 1);
  check(R"("invalid")", 1);
  check(R"("NaN")", 1);
  check(R"("-inf")", 1);
  check(R"("2.5")", 2.5);
  check(R"(" +2.5e0\n")", 2.5);
  check(R"("1_0e-1")", 1);
  check(R"("_2")", 1);
  check(R"("2__5")", 1);
  check(R"("0x2")", 1);
  check(R"("-2")", 0.5);
  check(R"("1e999")", 1);
  check(R"("1e-999")", 0.5);
  EXPECT_EQ(clamp_temperature(base::JsonValue::real(std::nan(""))), 1);
}

Calibration calibration(const char* json) {
  auto result = Calibration::from_config_json(json);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : Calibration();
}

TEST(Calibration, BucketBeforeType) {
  const Calibration c = calibration(
      R"({"temperature":[1.3,0.8,1.1],"temperature_by_options":{"choice:3-5":1.76,"noul:2":2}})");
  EXPECT_EQ(c.temperature(QuestionType::kChoice, 4), 1.76);
  EXPECT_EQ(c.temperature(QuestionType::kChoice, 2), 1.3);
  EXPECT_EQ(c.temperature(QuestionType::kScore, 4), 0.8);
  EXPECT_EQ(c.temperature(QuestionType::kNoul, 2), 2);
  EXPECT_EQ(c.warning(), "");
  EXPECT_EQ(Calibration().temperature(QuestionType::kChoice, 40), 1);
  EXPECT_EQ(calibration("{}").warning(), "");
}

// The published typed-decisions entry: the clamp is named, choices below 11 options keep theirs.
TEST(Calibration, OneWarningNamesWhatWasReplaced) {
  const Calibration c =
      calibration(R"({"temperature":[1.0148,1.0374,1.0575],"temperature_by_options":)"
                  R"({"choice:2":1.9063563346862793,"choice:11+":0.10058280825614929}})");
  EXPECT_EQ(c.warning(),
            "laya: this checkpoint ships invalid temperatures or values outside [0.5, 5]; using "
            "choice:11+=0.10058280825614929 -> 0.5. Treat confidence from the affected entries as "
            "uncalibrated.");
  EXPECT_EQ(c.temperature(QuestionType::kChoice, 11), 0.5);
  EXPECT_EQ(c.temperature(QuestionType::kChoice, 2), 1.9063563346862793);
}

TEST(Calibration, WarningOrderIsBucketsThenTypes) {
  const Calibration c = calibration(
      R"({"temperature":[true,"abc",99],"temperature_by_options":)"
      R"({"score:6-10":99,"choice:11+":0.1006,"choice:3-5":1.76,"noul:2":null,"x":"2.5"}})");
  EXPECT_EQ(c.warning(),
            "laya: this checkpoint ships invalid temperatures or values outside [0.5, 5]; using "
            "score:6-10=99 -> 5, choice:11+=0.1006 -> 0.5, noul:2=None -> 1, temperature[0]=True "
            "-> 1, temperature[1]='abc' -> 1, temperature[2]=99 -> 5. Treat confidence from the "
            "affected entries as uncalibrated.");
}

// A config that Python wrote may hold NaN; its reader keeps it as a number.
TEST(Calibration, NanIsNamed) {
  base::JsonValue by_options = base::JsonValue::object();
  by_options.set("noul:2", base::JsonValue::real(std::nan("")));
  base::JsonValue config = base::JsonValue::object();
  config.set("temperature_by_options", std::move(by_options));
  const auto c = Calibration::from_config(config);
  ASSERT_TRUE(c.ok());
  EXPECT_NE(c->warning().find("using noul:2=nan -> 1. "), std::string::npos) << c->warning();
}

TEST(Calibration, WrongShapesAreRefused) {
  const auto check = [](const char* json, ErrorCode code, const char* part) {
    const auto result = Calibration::from_config_json(json);
    ASSERT_FALSE(result.ok()) << json;
    EXPECT_EQ(result.error().code, code);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  };
  check(R"({"temperature":[1,1]})", ErrorCode::kUnsupportedModel, "got [1, 1]");
  check(R"({"temperature":1.5})", ErrorCode::kUnsupportedModel, "got 1.5");
  check(R"({"temperature":null})", ErrorCode::kUnsupportedModel, "got None");
  check(R"({"temperature_by_options":[1]})", ErrorCode::kUnsupportedModel, "got a list");
  check("[]", ErrorCode::kArtifactIntegrity, "got a list");
  check("{", ErrorCode::kArtifactIntegrity, "decision config");
}

}  // namespace
}  // namespace layard::decision
