/// The parity gate: does a forward pass give the recorded answers of the reference?
///
/// Source: laya-apple 1.7.0 parity `evaluate` (rule, tolerances and summary fields); departs: every
/// case is run twice for repeat_identical, not only the first.
/// Thread-safety: pure apart from the given forward function.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "decision/calibration.h"
#include "encoder/rows.h"
#include "layard/error.h"

namespace layard::validation {

inline constexpr double kToleranceFloat32 = 1e-4;
/// For every reduced number format.
inline constexpr double kToleranceReduced = 0.02;

/// One row of the reference.
struct ReferenceRow {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> markers;
  int type = 0;
  std::vector<float> logits;
  /// Softmax of the act head's logits.
  std::vector<double> act;
};

struct ReferenceCase {
  std::string name;
  /// Its place in the file: `line 3`, `cases[2]`.
  std::string where;
  base::JsonValue state;
  base::JsonValue questions;
  std::vector<ReferenceRow> rows;
};

/// Reads JSON Lines of `{name, state, questions, rows}` (cases with an `error` or without rows are
/// left out) or one object with `cases` of `{name, state, questions, items, logits,
/// action_logits}`. Errors: kInvalidRequest naming line and field.
Result<std::vector<ReferenceCase>> read_reference(std::string_view text);

/// `error` about a case: its text begins with `goldens `, the case's name if it has one, and its
/// place in the file.
Error at_case(const ReferenceCase& reference, Error error);

using Forward =
    std::function<Status(std::span<const encoder::ModelRow>, std::span<encoder::RowOutput>)>;
/// Rebuilds a case's rows from its texts, to compare ids; empty when ids are not compared.
using BuildRows = std::function<Result<std::vector<ReferenceRow>>(const ReferenceCase&)>;
using ProgressFunction = std::function<void(std::size_t, std::size_t)>;

struct GateOptions {
  std::string precision = "float32";
  double tolerance = kToleranceFloat32;
  /// Rows longer than this are skipped and counted; 0: none.
  std::size_t tokens_max = 0;
};

struct NearTie {
  std::string case_name;
  std::size_t row = 0;
  std::size_t tokens = 0;
  double reference_margin = 0;
};

/// An error is infinite where one of its numbers was not finite; all_finite is false then.
struct GateSummary {
  std::string precision;
  double tolerance = 0;
  std::size_t rows = 0;
  std::size_t distinct_rows = 0;  ///< by ids and markers; not printed
  std::size_t skipped_rows = 0;
  std::size_t token_mismatch_cases = 0;
  double prob_max_abs = 0;
  double action_prob_max_abs = 0;
  double logit_max_abs = 0;
  std::size_t hard_mismatches = 0;
  std::vector<NearTie> near_tie_flips;
  bool all_finite = true;
  bool repeat_identical = true;
  bool passed = false;
};

/// Errors: those of `forward` and `build`.
Result<GateSummary> evaluate(std::span<const ReferenceCase> cases,
                             const decision::Calibration& calibration, const Forward& forward,
                             const BuildRows& build, const GateOptions& options,
                             const ProgressFunction& progress);

/// A largest difference as JSON, which has no infinity: null where a number was not finite.
base::JsonValue error_json(double error);

/// The summary's fields, in the published order.
/// Departs from laya-apple: null where it prints `Infinity` or `NaN`, which are not JSON.
base::JsonValue to_json(const GateSummary& summary);

}  // namespace layard::validation
