/// All of a calibration from questions with logits and targets: temperatures by type and bucket,
/// the map of confidences, thresholds.
/// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "layard/evaluation.h"
#include "layard/question.h"

namespace layard::evaluation {

/// Questions that a bucket must have for a threshold, and for a map of its confidences.
/// Source: laya 0.4.15 (both floors).
inline constexpr std::size_t kThresholdFloor = 100;
inline constexpr std::size_t kBinningFloor = 200;

struct FitRecord {
  QuestionType type = QuestionType::kNoul;
  std::string bucket;
  std::vector<double> logits;  ///< in label order, at least one
  Target target;
  double temperature = 1;  ///< before the fit
};

struct Temperatures {
  std::array<double, 3> by_type = {1, 1, 1};
  std::map<std::string, double> by_bucket;  ///< those with a temperature of their own
  std::vector<std::string> clamped;         ///< types (`choice`) and buckets

  double of(QuestionType type, const std::string& bucket) const;
};

/// Fits a type on all its questions, also those of buckets with a temperature of their own; types
/// and buckets that `counted` has fewer of than the floors are left out.
/// Source: laya 0.4.15 `fit_temperature_map`.
Temperatures fit_all(std::span<const FitRecord> records, const FitOptions& options,
                     const std::map<std::string, std::size_t>& counted);

/// Questions by bucket (`choice:3-5`) and by type (`choice`).
std::map<std::string, std::size_t> count_records(std::span<const FitRecord> records);

/// Per bucket of kBinningFloor questions and more, how often answers whose largest probability is
/// in each of kReliabilityBins equal bins [low, high) were right; a bin without any: its centre.
/// Source: laya 0.4.15 `fit_binning_map`.
std::map<std::string, std::vector<double>> fit_binning(std::span<const FitRecord> records,
                                                       const Temperatures& temperatures);

/// The bin of `largest` among `bins`, as Calibration::answer_confidence has it.
std::size_t binning_bin(double largest, std::size_t bins);

/// A question as a gate sees it: answer_confidence of 4 decimals, from `binning` where it has the
/// bucket, and whether the most probable option is right.
JudgedAnswer judged_answer(const FitRecord& record, double temperature,
                           const std::map<std::string, std::vector<double>>& binning);

/// Per bucket of kThresholdFloor questions and more: threshold_for_error().
std::map<std::string, double> fit_thresholds(
    std::span<const FitRecord> records, const Temperatures& temperatures,
    const std::map<std::string, std::vector<double>>& binning, double target_error);

/// Which records are held out: a fifth of each bucket, drawn with a fixed seed. One flag a record.
std::vector<bool> held_out_records(std::span<const FitRecord> records);

}  // namespace layard::evaluation
