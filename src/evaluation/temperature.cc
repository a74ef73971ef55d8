#include "evaluation/temperature.h"

#include <algorithm>
#include <cmath>

#include "base/python_number.h"
#include "decision/calibration.h"
#include "evaluation/judge.h"

namespace layard::evaluation {
namespace {

// Of ln T, beyond what is applied: a fit that runs away is told from one that ends at a bound.
constexpr double kBeyond = 10;
// Halvings of about 22: what is left is below 1e-10.
constexpr int kSteps = 40;

// The slope of the summed loss in 1/T: above 0 where a larger T would be better.
double slope(std::span<const FitRow> rows, double log_temperature) {
  const double temperature = std::exp(log_temperature);
  double sum = 0;
  for (const FitRow& row : rows) {
    const std::vector<double> log_p = log_probabilities(row.logits, temperature);
    for (std::size_t i = 0; i < row.logits.size(); ++i) {
      sum += (std::exp(log_p[i]) - row.target[i]) * row.logits[i];
    }
  }
  return sum;
}

// Whether any row has two different logits.
bool depends_on_temperature(std::span<const FitRow> rows) {
  return std::ranges::any_of(rows, [](const FitRow& row) {
    return std::ranges::adjacent_find(row.logits, std::not_equal_to()) != row.logits.end();
  });
}

}  // namespace

FittedTemperature fit_temperature(std::span<const FitRow> rows) {
  if (!depends_on_temperature(rows)) return {};
  const double lowest = std::log(decision::kTemperatureMin);
  const double highest = std::log(decision::kTemperatureMax);
  double low = lowest - kBeyond;
  double high = highest + kBeyond;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    // Where all targets are met for certain the slope is 0, and a smaller T is as good.
    (slope(rows, middle) > 0 ? low : high) = middle;
  }
  const double found = (low + high) / 2;
  FittedTemperature out;
  out.clamped = found < lowest || found > highest;
  out.temperature = std::clamp(base::python_round4(std::exp(std::clamp(found, lowest, highest))),
                               decision::kTemperatureMin, decision::kTemperatureMax);
  return out;
}

}  // namespace layard::evaluation
