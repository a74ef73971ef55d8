/// How well a question tells kinds of requests apart: `layard route eval`.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "gateway/request_class.h"
#include "gateway/route_cases.h"

namespace layard::gateway {

struct Share {
  std::size_t right = 0;
  std::size_t all = 0;
  void add(bool is_right) {
    ++all;
    right += is_right ? 1 : 0;
  }
  /// 0 to 100; 0 of none.
  double percent() const;
};

struct NamedShare {
  std::string name;
  Share share;
};

/// What a run over labelled requests gave.
struct RouteEvaluation {
  Share all;
  Share by_model;  ///< those whose size did not decide
  Share by_size;
  std::vector<std::string> classes;
  /// [label][answer] counts, both in the order of `classes`.
  std::vector<std::vector<std::size_t>> confusion;
  std::vector<NamedShare> languages;  ///< in order of first appearance; empty if no case has one
  std::vector<NamedShare> sources;
  std::vector<NamedShare> lengths;  ///< by code points of the text, short ones first
  /// Quarters of all cases by confidence, the least confident first; the larger ones last.
  std::vector<Share> quarters;
  std::vector<Share> quarters_by_model;
  std::size_t below_threshold = 0;
  /// Expected calibration error of the largest probability, ten bins, where the model decided.
  double calibration_error = 0;
  /// Answers that change: with letters swapped in some words, and with the options reversed.
  Share typo_flips;
  Share order_flips;
  double ms_all = 0;       ///< mean time of a decision, gated ones included
  double ms_by_model = 0;  ///< mean
  double ms_by_model_median = 0;
};

/// Classifies every case, one at a time for the times and then again in batches for the flips.
/// `progress(done, total)` may be empty. Errors: those of RequestClassifier::classify.
Result<RouteEvaluation> evaluate_routes(
    const RoutePolicy& policy, const RequestClassifier& classifier,
    const std::vector<RouteCase>& cases,
    const std::function<void(std::size_t, std::size_t)>& progress);

/// First line `accuracy 95.5% (191/200)`, then the rest for people.
std::string print_route_evaluation(const RouteEvaluation& evaluation);
/// The same numbers as JSON, indented by one.
std::string route_evaluation_json(const RouteEvaluation& evaluation);

}  // namespace layard::gateway
