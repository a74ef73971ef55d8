#include "validation/parity.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace layard::validation {
namespace {

std::vector<double> softmax(std::span<const float> logits, double temperature) {
  double peak = -std::numeric_limits<double>::infinity();
  for (const float value : logits) peak = std::max(peak, static_cast<double>(value));
  std::vector<double> p;
  double total = 0;
  for (const float value : logits) {
    total += p.emplace_back(std::exp((static_cast<double>(value) - peak) / temperature));
  }
  for (double& value : p) value /= total;
  return p;
}

// The larger of both; what is not a number counts as infinite, and is not lost in a comparison.
double larger(double most, double difference) {
  return std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                : std::max(most, difference);
}

double max_abs_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger(most, std::fabs(a[i] - b[i]));
  return most;
}

std::size_t arg_max(std::span<const double> p) {
  return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

double margin(std::vector<double> p) {
  if (p.size() < 2) return 1.0;
  std::partial_sort(p.begin(), p.begin() + 2, p.end(), std::greater<>());
  return p[0] - p[1];
}

encoder::ModelRow view(const ReferenceRow& row) { return {row.ids, row.markers, row.type, {}, {}}; }

bool all_finite(const encoder::RowOutput& output) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::all_of(output.logits.begin(), output.logits.end(), finite) &&
         std::all_of(output.act.begin(), output.act.end(), finite);
}

class Gate {
 public:
  Gate(const decision::Calibration& calibration, const Forward& forward, const GateOptions& options)
      : calibration_(calibration), forward_(forward), options_(options) {
    summary_.precision = options.precision;
    summary_.tolerance = options.tolerance;
  }

  Status add(const ReferenceCase& reference, const BuildRows& build) {
    if (build) LAYARD_TRY(compare_ids(reference, build));
    std::vector<encoder::ModelRow> rows;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < reference.rows.size(); ++i) {
      if (options_.tokens_max != 0 && reference.rows[i].ids.size() > options_.tokens_max) {
        ++summary_.skipped_rows;
        continue;
      }
      rows.push_back(view(reference.rows[i]));
      indices.push_back(i);
    }
    if (rows.empty()) return {};
    std::vector<encoder::RowOutput> outputs(rows.size());
    LAYARD_TRY(forward_(rows, outputs));
    LAYARD_TRY(repeat(rows, outputs));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ReferenceRow& row = reference.rows[indices[i]];
      if (row.act.size() != outputs[i].act.size()) {
        return at_case(
            reference,
            {ErrorCode::kInvalidRequest,
             "row " + std::to_string(indices[i]) + ": 'act' has " + std::to_string(row.act.size()) +
                 " numbers, the model gives " + std::to_string(outputs[i].act.size())});
      }
      compare_row(reference, indices[i], outputs[i]);
      seen_.emplace(row.ids, row.markers);
    }
    return {};
  }

  GateSummary finish() {
    GateSummary& s = summary_;
    s.distinct_rows = seen_.size();
    s.passed = s.rows > 0 && s.all_finite && s.token_mismatch_cases == 0 &&
               s.hard_mismatches == 0 && s.prob_max_abs <= s.tolerance &&
               s.action_prob_max_abs <= s.tolerance && s.repeat_identical;
    return s;
  }

 private:
  Status compare_ids(const ReferenceCase& reference, const BuildRows& build) {
    LAYARD_ASSIGN(const std::vector<ReferenceRow> built, build(reference));
    bool equal = built.size() == reference.rows.size();
    for (std::size_t i = 0; equal && i < built.size(); ++i) {
      equal = built[i].ids == reference.rows[i].ids &&
              built[i].markers == reference.rows[i].markers &&
              built[i].type == reference.rows[i].type;
    }
    if (!equal) ++summary_.token_mismatch_cases;
    return {};
  }

  Status repeat(std::span<const encoder::ModelRow> rows,
                std::span<const encoder::RowOutput> first) {
    std::vector<encoder::RowOutput> again(rows.size());
    LAYARD_TRY(forward_(rows, again));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
        return a.size() == b.size() &&
               std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
      };
      if (!same(first[i].logits, again[i].logits) || !same(first[i].act, again[i].act)) {
        summary_.repeat_identical = false;
      }
    }
    return {};
  }

  void compare_row(const ReferenceCase& reference, std::size_t index,
                   const encoder::RowOutput& got) {
    const ReferenceRow& row = reference.rows[index];
    ++summary_.rows;
    summary_.all_finite = summary_.all_finite && all_finite(got);
    const double t =
        calibration_.temperature(static_cast<QuestionType>(row.type), row.logits.size());
    const std::vector<double> wanted = softmax(row.logits, t);
    const std::vector<double> found = softmax(got.logits, t);
    const double probability_error = max_abs_difference(found, wanted);
    summary_.prob_max_abs = std::max(summary_.prob_max_abs, probability_error);
    summary_.action_prob_max_abs =
        std::max(summary_.action_prob_max_abs, max_abs_difference(softmax(got.act, 1.0), row.act));
    for (std::size_t i = 0; i < row.logits.size() && i < got.logits.size(); ++i) {
      const float difference = std::fabs(got.logits[i] - row.logits[i]);
      summary_.logit_max_abs = larger(summary_.logit_max_abs, static_cast<double>(difference));
    }
    const bool mismatch = found.size() != wanted.size() || arg_max(found) != arg_max(wanted);
    if (!mismatch) return;
    const double lead = margin(wanted);
    if (lead >= 2 * options_.tolerance) {
      ++summary_.hard_mismatches;
    } else {
      summary_.near_tie_flips.push_back({reference.name, index, row.ids.size(), lead});
    }
  }

  const decision::Calibration& calibration_;
  const Forward& forward_;
  const GateOptions& options_;
  GateSummary summary_;
  std::set<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> seen_;
};

}  // namespace

Result<GateSummary> evaluate(std::span<const ReferenceCase> cases,
                             const decision::Calibration& calibration, const Forward& forward,
                             const BuildRows& build, const GateOptions& options,
                             const ProgressFunction& progress) {
  Gate gate(calibration, forward, options);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    LAYARD_TRY(gate.add(cases[i], build));
    if (progress) progress(i + 1, cases.size());
  }
  return gate.finish();
}

base::JsonValue error_json(double error) {
  return std::isfinite(error) ? base::JsonValue::real(error) : base::JsonValue::null();
}

base::JsonValue to_json(const GateSummary& summary) {
  using base::JsonValue;
  const auto count = [](std::size_t value) {
    return JsonValue::integer(static_cast<std::int64_t>(value));
  };
  JsonValue flips = JsonValue::array();
  for (const NearTie& tie : summary.near_tie_flips) {
    JsonValue entry = JsonValue::object();
    entry.set("case", JsonValue::string(tie.case_name));
    entry.set("row", count(tie.row));
    entry.set("tokens", count(tie.tokens));
    entry.set("ref_margin", JsonValue::real(tie.reference_margin));
    flips.push_back(std::move(entry));
  }
  JsonValue out = JsonValue::object();
  out.set("precision", JsonValue::string(summary.precision));
  out.set("tolerance", JsonValue::real(summary.tolerance));
  out.set("rows", count(summary.rows));
  out.set("skipped_rows", count(summary.skipped_rows));
  out.set("token_mismatch_cases", count(summary.token_mismatch_cases));
  out.set("prob_max_abs", error_json(summary.prob_max_abs));
  out.set("action_prob_max_abs", error_json(summary.action_prob_max_abs));
  out.set("logit_max_abs", error_json(summary.logit_max_abs));
  out.set("hard_mismatches", count(summary.hard_mismatches));
  out.set("near_tie_flips", std::move(flips));
  out.set("all_finite", JsonValue::boolean(summary.all_finite));
  out.set("repeat_identical", JsonValue::boolean(summary.repeat_identical));
  out.set("passed", JsonValue::boolean(summary.passed));
  return out;
}

}  // namespace layard::validation
