/// Confidences that clients of other servers expect beside ours: the one TypeSafe's service
/// reports, and the gate by which low ones are marked.
///
/// Source: laya 0.4.15 (`jev_confidence`, `min_confidence`; formulas, names and texts).
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "layard/answer.h"
#include "server/fault.h"

namespace layard::server {

/// Of a choice: (max p - 1/n) / (1 - 1/n); of a score: max(0, 1 - sum p_i |i - mode| / D) with
/// D = sum |i - (n-1)/2| / n and the first mode. p is made to sum to 1 first (all zero: uniform);
/// one option is certain. Rounded to 4 decimals, from the rounded probabilities. Nothing for noul.
std::optional<double> jev_confidence(const Answer& answer);
double jev_choice_confidence(std::span<const double> probabilities);
double jev_score_confidence(std::span<const double> probabilities);

/// Least confidences by kind of question: `choice:3-5` and its like, and one for all others.
struct ConfidenceGate {
  std::map<std::string, double, std::less<>> buckets;
  double other = 0;
};

/// A number in [0, 1], or an object of bucket -> number with `default` for the rest. 422 otherwise.
OrFault<ConfidenceGate> read_gate(const base::JsonValue& value);

/// `choice:2`, `choice:3-5`, `choice:6-10` or `choice:11+`, and the same of the other types.
std::string bucket_of(QuestionType type, std::size_t options);

/// What the gate says about an answer.
struct GateOutcome {
  bool passed = true;
  double threshold = 0;
};
GateOutcome apply_gate(const ConfidenceGate& gate, const Answer& answer);

}  // namespace layard::server
