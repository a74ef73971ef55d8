#include "evaluation/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/python_number.h"
#include "base/python_random.h"
#include "evaluation/judge.h"
#include "evaluation/temperature.h"

namespace layard::evaluation {
namespace {

constexpr std::size_t kHeldOutOne = 5;  // of so many

using Counts = std::map<std::string, std::size_t>;

std::size_t count_of(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

std::string type_name(const FitRecord& record) { return std::string(to_string(record.type)); }

// The rows of each group, by name, where the floor is met.
std::map<std::string, std::vector<FitRow>> rows_by(std::span<const FitRecord> records,
                                                   const Counts& counted, std::size_t floor,
                                                   std::string (*name_of)(const FitRecord&)) {
  std::map<std::string, std::vector<FitRow>> out;
  for (const FitRecord& record : records) {
    const std::string name = name_of(record);
    if (count_of(counted, name) >= floor) out[name].push_back({record.logits, record.target});
  }
  return out;
}

struct Picked {
  double largest = 0;
  bool right = false;
};

Picked pick(const FitRecord& record, double temperature) {
  const std::vector<double> log_p = log_probabilities(record.logits, temperature);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(log_p) - log_p.begin());
  return {std::exp(log_p[best]),
          record.target[best] == record.target[expected_option(record.target)]};
}

}  // namespace

double Temperatures::of(QuestionType type, const std::string& bucket) const {
  const auto found = by_bucket.find(bucket);
  return found != by_bucket.end() ? found->second : by_type[static_cast<std::size_t>(type)];
}

Counts count_records(std::span<const FitRecord> records) {
  Counts out;
  for (const FitRecord& record : records) {
    ++out[record.bucket];
    ++out[type_name(record)];
  }
  return out;
}

Temperatures fit_all(std::span<const FitRecord> records, const FitOptions& options,
                     const Counts& counted) {
  Temperatures out;
  const auto by_type = rows_by(records, counted, options.type_floor, type_name);
  for (const auto& [name, rows] : by_type) {
    const FittedTemperature fitted = fit_temperature(rows);
    out.by_type[static_cast<std::size_t>(*question_type_from_string(name))] = fitted.temperature;
    if (fitted.clamped) out.clamped.push_back(name);
  }
  const auto by_bucket =
      rows_by(records, counted, options.bucket_floor, [](const FitRecord& r) { return r.bucket; });
  for (const auto& [name, rows] : by_bucket) {
    const FittedTemperature fitted = fit_temperature(rows);
    out.by_bucket[name] = fitted.temperature;
    if (fitted.clamped) out.clamped.push_back(name);
  }
  return out;
}

std::size_t binning_bin(double largest, std::size_t bins) {
  const auto count = static_cast<double>(bins);
  return static_cast<std::size_t>(std::clamp(std::floor(largest * count), 0.0, count - 1));
}

std::map<std::string, std::vector<double>> fit_binning(std::span<const FitRecord> records,
                                                       const Temperatures& temperatures) {
  struct Bin {
    double count = 0;
    double right = 0;
  };
  std::map<std::string, std::vector<Bin>> sums;
  const Counts counted = count_records(records);
  for (const FitRecord& record : records) {
    if (count_of(counted, record.bucket) < kBinningFloor) continue;
    std::vector<Bin>& bins = sums[record.bucket];
    bins.resize(kReliabilityBins);
    const Picked picked = pick(record, temperatures.of(record.type, record.bucket));
    Bin& bin = bins[binning_bin(picked.largest, kReliabilityBins)];
    bin.count += 1;
    bin.right += picked.right ? 1 : 0;
  }
  std::map<std::string, std::vector<double>> out;
  for (const auto& [bucket, bins] : sums) {
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const double centre = (static_cast<double>(i) + 0.5) / static_cast<double>(kReliabilityBins);
      out[bucket].push_back(
          base::python_round4(bins[i].count > 0 ? bins[i].right / bins[i].count : centre));
    }
  }
  return out;
}

JudgedAnswer judged_answer(const FitRecord& record, double temperature,
                           const std::map<std::string, std::vector<double>>& binning) {
  const Picked picked = pick(record, temperature);
  double confidence = picked.largest;
  if (const auto found = binning.find(record.bucket); found != binning.end()) {
    confidence = found->second[binning_bin(picked.largest, found->second.size())];
  }
  return {base::python_round4(std::min(confidence, 1.0)), picked.right};
}

std::map<std::string, double> fit_thresholds(
    std::span<const FitRecord> records, const Temperatures& temperatures,
    const std::map<std::string, std::vector<double>>& binning, double target_error) {
  std::map<std::string, std::vector<JudgedAnswer>> answers;
  for (const FitRecord& record : records) {
    answers[record.bucket].push_back(
        judged_answer(record, temperatures.of(record.type, record.bucket), binning));
  }
  std::map<std::string, double> out;
  for (const auto& [bucket, judged] : answers) {
    if (judged.size() < kThresholdFloor) continue;
    out[bucket] = threshold_for_error(judged, target_error);
  }
  return out;
}

std::vector<bool> held_out_records(std::span<const FitRecord> records) {
  std::map<std::string, std::vector<std::size_t>> by_bucket;
  for (std::size_t i = 0; i < records.size(); ++i) by_bucket[records[i].bucket].push_back(i);
  std::vector<bool> out(records.size(), false);
  base::PythonRandom random(0);
  for (auto& [bucket, places] : by_bucket) {
    // A Fisher-Yates shuffle that stops when the held-out ones are drawn.
    for (std::size_t i = 0; i < places.size() / kHeldOutOne; ++i) {
      const std::size_t other = i + random.below(static_cast<std::uint32_t>(places.size() - i));
      std::swap(places[i], places[other]);
      out[places[i]] = true;
    }
  }
  return out;
}

}  // namespace layard::evaluation
