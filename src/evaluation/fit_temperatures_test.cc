#include "base/json.h"
#include "layard/evaluation.h"
#include "support/tiny_model.h"

namespace layard {
namespace {

class FitTemperatures : public testing::TinyModel {
 protected:
  static std::vector<EvaluationCase> cases(int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) {
      text += R"({"state": "text )" + std::to_string(i) +
              R"(", "questions": {"c": {"type": "choice", "instructions": "?",)"
              R"( "criteria": ["one", "two", "three"]}, "n": {"type": "noul",)"
              R"( "instructions": "Is it?"}}, "expected": {"c": ")" +
              (i % 3 == 0 ? "one" : "two") + R"(", "n": )" + (i % 2 == 0 ? "true" : "false") +
              "}}\n";
    }
    return *parse_evaluation_cases(text, "");
  }
};

TEST_F(FitTemperatures, FileIsTakenByTheModelItWasFittedOn) {
  FitOptions fit;
  fit.bucket_floor = 20;
  fit.binning_map = true;
  const auto lines = cases(40);
  const auto found = fit_temperatures(options(), lines, fit, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->types.size(), 2U);
  ASSERT_EQ(found->buckets.size(), 2U);
  EXPECT_EQ(found->buckets[0].name, "choice:3-5");
  EXPECT_TRUE(found->buckets[0].fitted);
  EXPECT_EQ(found->all.questions, 80U);
  EXPECT_EQ(found->all.held_out, 16U);
  ModelOptions with = options();
  with.calibration_file = (folder_.path() / "calibration.json").string();
  testing::write_file(with.calibration_file, found->json);
  log_.clear();
  const auto before = evaluate(options(), lines, {}, {});
  const auto after = evaluate(with, lines, {}, {});
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(log_, "");
  EXPECT_EQ(after->calibration, with.calibration_file);
  EXPECT_LE(after->all.nll, before->all.nll) << "fitted on these very questions";
  EXPECT_EQ(after->all.right, before->all.right) << "a temperature changes no decision";
}

TEST_F(FitTemperatures, BelowTheFloorNothingIsFitted) {
  const auto found = fit_temperatures(options(), cases(4), {}, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_FALSE(found->types[0].fitted);
  EXPECT_EQ(found->types[0].temperature, 1);
  EXPECT_FALSE(found->buckets[0].fitted);
  EXPECT_EQ(found->all.held_out, 0U);
  const auto json = base::parse_json(found->json, {});
  EXPECT_EQ(json->find("temperature_by_options")->size(), 0U);
  EXPECT_EQ(json->find("binning_map"), nullptr);
  EXPECT_EQ(json->find("config")->find("temperature"), nullptr);
}

TEST_F(FitTemperatures, OptionsOutOfRange) {
  const auto check = [this](const FitOptions& fit) {
    const auto found = fit_temperatures(options(), cases(1), fit, {});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::kInvalidRequest);
  };
  check({.target_error = 0});
  check({.target_error = 1});
  check({.bucket_floor = 0});
  check({.type_floor = 2'000'000});
}

}  // namespace
}  // namespace layard
