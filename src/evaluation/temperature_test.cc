#include "evaluation/temperature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/python_random.h"
#include "evaluation/judge.h"

namespace layard::evaluation {
namespace {

struct Data {
  std::vector<std::vector<double>> logits;
  std::vector<Target> targets;

  std::vector<FitRow> rows() const {
    std::vector<FitRow> out;
    for (std::size_t i = 0; i < logits.size(); ++i) out.push_back({logits[i], targets[i]});
    return out;
  }
  double loss(double temperature) const {
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto log_p = log_probabilities(logits[i], temperature);
      for (std::size_t j = 0; j < log_p.size(); ++j) sum -= targets[i][j] * log_p[j];
    }
    return sum;
  }
};

std::vector<double> probabilities(const std::vector<double>& logits, double temperature) {
  std::vector<double> out;
  for (const double value : log_probabilities(logits, temperature)) out.push_back(std::exp(value));
  return out;
}

// Logits whose targets are what softmax(logits / temperature) says: soft, or drawn from it.
Data synthetic(std::uint64_t seed, std::size_t rows, double temperature, bool soft) {
  base::PythonRandom random(seed);
  Data out;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> logits(2 + random.below(6));
    for (double& logit : logits) logit = 12 * random.uniform() - 6;
    Target target = probabilities(logits, temperature);
    if (!soft) {
      double left = random.uniform();
      std::size_t drawn = 0;
      while (drawn + 1 < target.size() && left > target[drawn]) left -= target[drawn++];
      target.assign(target.size(), 0);
      target[drawn] = 1;
    }
    out.logits.push_back(std::move(logits));
    out.targets.push_back(std::move(target));
  }
  return out;
}

TEST(Temperature, SoftTargetsGiveItBackExactly) {
  for (const double temperature : {0.5, 0.73, 1.0, 1.9, 3.25, 5.0}) {
    const Data data = synthetic(7, 50, temperature, true);
    EXPECT_NEAR(fit_temperature(data.rows()).temperature, temperature, 1e-4) << temperature;
  }
}

TEST(Temperature, DrawnLabelsGiveItBackNearly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const double temperature : {0.8, 1.0, 2.0, 4.0}) {
      const Data data = synthetic(seed, 4000, temperature, false);
      const FittedTemperature found = fit_temperature(data.rows());
      EXPECT_NEAR(found.temperature / temperature, 1, 0.12) << seed << " " << temperature;
      EXPECT_FALSE(found.clamped);
    }
  }
}

TEST(Temperature, NoOtherIsBetter) {
  const Data data = synthetic(3, 300, 1.7, false);
  const double best = data.loss(fit_temperature(data.rows()).temperature);
  for (double other = 0.5; other <= 5; other += 0.01) {
    EXPECT_GE(data.loss(other), best - 1e-5) << other;
  }
}

TEST(Temperature, EndsAtTheBounds) {
  Data sure;
  sure.logits = {{3, 0}, {0, 2}};
  sure.targets = {{1, 0}, {0, 1}};
  EXPECT_EQ(fit_temperature(sure.rows()).temperature, 0.5);
  EXPECT_TRUE(fit_temperature(sure.rows()).clamped);
  Data wrong = sure;
  wrong.targets = {{0, 1}, {1, 0}};
  EXPECT_EQ(fit_temperature(wrong.rows()).temperature, 5);
  EXPECT_TRUE(fit_temperature(wrong.rows()).clamped);
}

TEST(Temperature, WhatDoesNotDependOnItLeavesOne) {
  EXPECT_EQ(fit_temperature({}).temperature, 1);
  Data flat;
  flat.logits = {{2, 2, 2}, {7}};
  flat.targets = {{0, 1, 0}, {1}};
  EXPECT_EQ(fit_temperature(flat.rows()).temperature, 1);
  EXPECT_FALSE(fit_temperature(flat.rows()).clamped);
}

TEST(Temperature, ByHand) {
  // Two options, logits 2 and 0, right in three of four: softmax is 0.75 at 2 / T = ln 3.
  Data data;
  data.logits = {{2, 0}, {2, 0}, {2, 0}, {2, 0}};
  data.targets = {{1, 0}, {1, 0}, {1, 0}, {0, 1}};
  EXPECT_NEAR(fit_temperature(data.rows()).temperature, 2 / std::log(3.0), 1e-4);
}

}  // namespace
}  // namespace layard::evaluation
