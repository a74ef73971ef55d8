#include <gtest/gtest.h>

#include "base/json.h"
#include "evaluation/test_evaluation.h"

namespace layard {
namespace {

using base::JsonValue;

TEST(ReportJson, NumbersAreWhole) {
  const auto json = base::parse_json(evaluation_json(evaluation::sample_evaluation()), {});
  ASSERT_TRUE(json.ok());
  const JsonValue& all = *json->find("all");
  EXPECT_EQ(all.find("right")->as_int64(), 4321);
  EXPECT_EQ(all.find("accuracy")->as_double(), 4321.0 / 5250);
  EXPECT_EQ(all.find("score_error")->as_double(), 0.25);
  EXPECT_EQ(all.find("order_flips")->find("changed")->as_int64(), 9);
  EXPECT_EQ(all.find("bins")->size(), kReliabilityBins);
  EXPECT_EQ(all.find("accuracy_interval")->size(), 2U);
  EXPECT_TRUE(json->find("types")->find("choice")->find("score_error")->is_null());
  EXPECT_TRUE(json->find("calibration")->is_null());
  EXPECT_EQ(json->find("abstention")->size(), 51U);
  const JsonValue& mistake = json->find("mistakes")->items()[0];
  EXPECT_EQ(mistake.find("line")->as_int64(), 17);
  EXPECT_EQ(mistake.find("text"), nullptr) << "texts stay in the file";
}

TEST(ReportJson, EmptyEvaluation) {
  const auto json = base::parse_json(evaluation_json({}), {});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("sources")->size(), 0U);
}

}  // namespace
}  // namespace layard
