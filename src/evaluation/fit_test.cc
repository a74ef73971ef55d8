#include "evaluation/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/python_random.h"
#include "evaluation/judge.h"

namespace layard::evaluation {
namespace {

FitRecord record(QuestionType type, const std::string& bucket, std::vector<double> logits,
                 std::size_t expected) {
  FitRecord out;
  out.type = type;
  out.bucket = bucket;
  out.target.assign(logits.size(), 0);
  out.target[expected] = 1;
  out.logits = std::move(logits);
  return out;
}

// Choices of three and of six options whose labels are drawn at two temperatures.
std::vector<FitRecord> two_buckets(std::size_t each) {
  base::PythonRandom random(5);
  std::vector<FitRecord> out;
  for (std::size_t i = 0; i < 2 * each; ++i) {
    const bool many = i % 2 == 1;
    std::vector<double> logits(many ? 6 : 3);
    for (double& logit : logits) logit = 10 * random.uniform();
    double left = random.uniform();
    const auto log_p = log_probabilities(logits, many ? 3.0 : 1.5);
    std::size_t drawn = 0;
    while (drawn + 1 < logits.size() && left > std::exp(log_p[drawn])) {
      left -= std::exp(log_p[drawn++]);
    }
    out.push_back(record(QuestionType::kChoice, many ? "choice:6-10" : "choice:3-5",
                         std::move(logits), drawn));
  }
  return out;
}

TEST(Fit, BucketsGetTheirOwn) {
  const auto records = two_buckets(2500);
  const auto counted = count_records(records);
  EXPECT_EQ(counted.at("choice"), 5000U);
  EXPECT_EQ(counted.at("choice:3-5"), 2500U);
  const Temperatures found = fit_all(records, {}, counted);
  ASSERT_EQ(found.by_bucket.size(), 2U);
  EXPECT_NEAR(found.by_bucket.at("choice:3-5"), 1.5, 0.15);
  EXPECT_NEAR(found.by_bucket.at("choice:6-10"), 3.0, 0.3);
  EXPECT_GT(found.by_type[0], found.by_bucket.at("choice:3-5"));
  EXPECT_LT(found.by_type[0], found.by_bucket.at("choice:6-10"));
  EXPECT_EQ(found.by_type[1], 1);
  EXPECT_EQ(found.of(QuestionType::kChoice, "choice:11+"), found.by_type[0]);
}

TEST(Fit, FloorsAreInclusive) {
  const auto records = two_buckets(50);
  const auto counted = count_records(records);
  FitOptions options;
  options.bucket_floor = 50;
  options.type_floor = 100;
  EXPECT_EQ(fit_all(records, options, counted).by_bucket.size(), 2U);
  options.bucket_floor = 51;
  options.type_floor = 101;
  const Temperatures none = fit_all(records, options, counted);
  EXPECT_TRUE(none.by_bucket.empty());
  EXPECT_EQ(none.by_type[0], 1);
}

TEST(Fit, BinningByHand) {
  // 150 answers at probability e^1.2 / (e^1.2 + 1) = 0.769, two of three right; 50 at 1/2 wrong.
  std::vector<FitRecord> records;
  for (std::size_t i = 0; i < 150; ++i) {
    records.push_back(record(QuestionType::kNoul, "noul:2", {0, 1.2}, i % 3 == 0 ? 0 : 1));
  }
  for (std::size_t i = 0; i < 50; ++i) {
    records.push_back(record(QuestionType::kNoul, "noul:2", {0, 0}, 1));
  }
  const auto binning = fit_binning(records, Temperatures());
  ASSERT_EQ(binning.size(), 1U);
  const auto& values = binning.at("noul:2");
  ASSERT_EQ(values.size(), kReliabilityBins);
  EXPECT_EQ(values[11], 0.6667) << "[11/15, 12/15)";
  EXPECT_EQ(values[7], 0) << "[7/15, 8/15), where the first of equals is wrong";
  EXPECT_EQ(values[0], 0.0333) << "the centre of an empty bin";
  EXPECT_EQ(judged_answer(records[0], 1, binning).confidence, 0.6667);
  EXPECT_EQ(judged_answer(records[0], 1, {}).confidence, 0.7685);
  records.pop_back();
  EXPECT_TRUE(fit_binning(records, Temperatures()).empty()) << "199 are too few";
}

TEST(Fit, BinsAreClosedBelow) {
  EXPECT_EQ(binning_bin(0, 4), 0U);
  EXPECT_EQ(binning_bin(0.25, 4), 1U);
  EXPECT_EQ(binning_bin(1, 4), 3U);
}

TEST(Fit, ThresholdsByHand) {
  std::vector<FitRecord> records;
  for (std::size_t i = 0; i < 60; ++i) {
    records.push_back(record(QuestionType::kNoul, "noul:2", {0, 2}, 1));
  }
  for (std::size_t i = 0; i < 40; ++i) {
    records.push_back(record(QuestionType::kNoul, "noul:2", {0, 1}, i % 2));
  }
  // 0.8808 of 60 right ones: 1/61. With 0.7311 of 40, half of them wrong: 21/101.
  EXPECT_EQ(fit_thresholds(records, {}, {}, 0.10).at("noul:2"), 0.8808);
  EXPECT_EQ(fit_thresholds(records, {}, {}, 0.25).at("noul:2"), 0.7311);
  EXPECT_EQ(fit_thresholds(records, {}, {}, 0.01).at("noul:2"), 1);
  records.pop_back();
  EXPECT_TRUE(fit_thresholds(records, {}, {}, 0.10).empty()) << "99 are too few";
}

TEST(Fit, ConfidencesAreThoseAfterTheFit) {
  const std::vector<FitRecord> records(200, record(QuestionType::kNoul, "noul:2", {0, 2}, 1));
  Temperatures temperatures;
  temperatures.by_type[2] = 2;  // softmax of 0 and 1: 0.7311
  EXPECT_EQ(fit_thresholds(records, temperatures, {}, 0.1).at("noul:2"), 0.7311);
  EXPECT_EQ(fit_binning(records, temperatures).at("noul:2")[10], 1) << "[10/15, 11/15)";
  temperatures.by_bucket["noul:2"] = 1;
  EXPECT_EQ(fit_thresholds(records, temperatures, {}, 0.1).at("noul:2"), 0.8808);
  EXPECT_EQ(fit_binning(records, temperatures).at("noul:2")[13], 1) << "[13/15, 14/15)";
}

TEST(Fit, AFifthOfEachBucketIsHeldOut) {
  const auto records = two_buckets(52);
  const auto held_out = held_out_records(records);
  std::size_t few = 0;
  std::size_t many = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (held_out[i]) ++(records[i].bucket == "choice:3-5" ? few : many);
  }
  EXPECT_EQ(few, 10U);
  EXPECT_EQ(many, 10U);
  EXPECT_EQ(held_out, held_out_records(records));
  EXPECT_TRUE(held_out_records({}).empty());
}

}  // namespace
}  // namespace layard::evaluation
