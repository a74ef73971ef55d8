#include "runtime/parity_run.h"

#include <algorithm>

#include "base/filesystem.h"
#include "base/sha256.h"
#include "decision/codec.h"
#include "encoder/reference.h"
#include "runtime/platform.h"
#include "runtime/prepare.h"
#include "validation/parity_record.h"

namespace layard::runtime {
namespace {

using validation::ReferenceCase;
using validation::ReferenceRow;

constexpr std::uint64_t kGoldensBytesMax = std::uint64_t{256} << 20U;

Result<std::vector<ReferenceRow>> build_rows(const LoadedModel& model,
                                             const ReferenceCase& reference) {
  LAYARD_ASSIGN(const State state, decision::read_state(reference.state));
  LAYARD_ASSIGN(const QuestionSet questions, decision::read_questions(reference.questions, {}));
  LAYARD_ASSIGN(const PreparedRequest prepared, prepare(state, questions, {}, model.tools()));
  std::vector<ReferenceRow> rows;
  for (const decision::PromptRow& row : prepared.passes[0]) {
    ReferenceRow built;
    built.ids = row.ids;
    built.markers = row.markers;
    built.type = static_cast<int>(row.type);
    rows.push_back(std::move(built));
  }
  return rows;
}

std::filesystem::path shipped_path(const LoadedModel& model) {
  return std::filesystem::path(model.identity().folder) / "goldens.jsonl";
}

Result<std::string> shipped_goldens(const LoadedModel& model) {
  auto text = base::real_filesystem().read_text(shipped_path(model), kGoldensBytesMax);
  if (text.ok()) return text;
  return Error{ErrorCode::kInvalidRequest,
               "model '" + model.identity().name +
                   "' ships no goldens.jsonl; name reference outputs with "
                   "--goldens FILE"};
}

// A gate's forward pass with a watch on it. The gate runs every case twice in a row; the faster run
// counts, so that a moment's load on the machine does not decide what `auto` takes for fast.
class TimedForward {
 public:
  TimedForward(const validation::Forward& forward, const base::Clock& clock)
      : forward_(forward), clock_(clock), start_ms_(clock.now_ms()) {}

  Status run(std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
    const double before_ms = clock_.now_ms();
    Status status = forward_(rows, outputs);
    const double row_ms = (clock_.now_ms() - before_ms) / static_cast<double>(rows.size());
    if (second_run_) {
      row_ms_.back() = std::min(row_ms_.back(), row_ms);
    } else {
      row_ms_.push_back(row_ms);
    }
    second_run_ = !second_run_;
    return status;
  }

  double duration_s() const { return (clock_.now_ms() - start_ms_) / 1000; }
  /// Of the cases so far, time by rows; 0 when there was none.
  double row_ms_median() const {
    if (row_ms_.empty()) return 0;
    std::vector<double> sorted = row_ms_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }

 private:
  const validation::Forward& forward_;
  const base::Clock& clock_;
  double start_ms_;
  std::vector<double> row_ms_;
  bool second_run_ = false;
};

// Some rows that fail, perhaps of another reference, do not undo a pass on many.
std::optional<std::string> outweighed_reason(const LoadedModel& model, const ParityInput& input,
                                             const validation::GateSummary& summary) {
  if (summary.distinct_rows >= validation::kRecordRowsMin) return std::nullopt;
  const auto earlier = validation::find_record(input.cache, model.record_key());
  if (!earlier.record.has_value() || !earlier.record->passed) return std::nullopt;
  return "it failed on " + std::to_string(summary.distinct_rows) +
         " different rows, and the record of " + earlier.record->date + ", a pass on " +
         std::to_string(earlier.record->rows) + " rows, stays in force, also for --dtype auto; " +
         "a failure on at least " + std::to_string(validation::kRecordRowsMin) +
         " different rows replaces it: give more with --goldens, or remove the file";
}

// Why a gate with this result leaves no record, or nothing.
std::optional<std::string> no_record_reason(const LoadedModel& model, const ParityInput& input,
                                            const validation::GateSummary& summary) {
  if (input.cache.empty()) return "there is no cache folder; set LAYARD_CACHE or HOME";
  if (model.weights_origin() == "random") {
    return "the weights are random, so their answers show nothing about trained ones";
  }
  if (summary.rows == 0) return "no row was compared";
  if (summary.passed && summary.distinct_rows < validation::kRecordRowsMin) {
    return std::to_string(summary.distinct_rows) +
           " different rows were compared and a pass needs at least " +
           std::to_string(validation::kRecordRowsMin) + "; give more with --goldens";
  }
  if (!summary.passed) return outweighed_reason(model, input, summary);
  return std::nullopt;
}

base::JsonValue record_json(const validation::ParityRecord& record, const ParityInput& input,
                            std::optional<std::string> reason) {
  if (!reason.has_value()) {
    const Status written = validation::write_record(input.cache, record);
    if (!written.ok()) reason = written.error().message;
  }
  base::JsonValue out = base::JsonValue::object();
  out.set("written", base::JsonValue::boolean(!reason.has_value()));
  out.set("path",
          input.cache.empty()
              ? base::JsonValue::null()
              : base::JsonValue::string(validation::record_path(input.cache, record.key).string()));
  if (reason.has_value()) out.set("note", base::JsonValue::string(*reason));
  return out;
}

Result<Model::ParityReport> run_gate(const LoadedModel& model, const std::string& goldens,
                                     const ParityInput& input, const validation::Forward& forward,
                                     const validation::ProgressFunction& progress) {
  LAYARD_ASSIGN(const std::vector<ReferenceCase> cases, validation::read_reference(goldens));
  LAYARD_TRY(check_cases(model, cases));
  if (model.tools().spec.parallel_options) {
    return Error{ErrorCode::kInvalidRequest,
                 "parity does not know the parallel option layout; its goldens hold no positions"};
  }
  validation::GateOptions options;
  options.precision = model.dtype();
  options.tolerance = options.precision == "float32" ? validation::kToleranceFloat32
                                                     : validation::kToleranceReduced;
  TimedForward timed(forward, input.clock);
  const validation::Forward run = [&](std::span<const encoder::ModelRow> rows,
                                      std::span<encoder::RowOutput> outputs) {
    return timed.run(rows, outputs);
  };
  const validation::BuildRows build = [&](const ReferenceCase& reference) {
    auto rows = build_rows(model, reference);
    return rows.ok()
               ? rows
               : Result<std::vector<ReferenceRow>>(validation::at_case(reference, rows.error()));
  };
  LAYARD_ASSIGN(const validation::GateSummary summary,
                validation::evaluate(cases, model.calibration(), run, build, options, progress));
  validation::ParityRecord record;
  record.key = model.record_key();
  record.weights = model.weights_origin();
  record.date = utc_date();
  record.goldens_sha256 = base::sha256_hex(goldens);
  record.rows = summary.rows;
  record.hard_mismatches = summary.hard_mismatches;
  record.near_ties = summary.near_tie_flips.size();
  record.token_mismatch_cases = summary.token_mismatch_cases;
  record.prob_max_abs = summary.prob_max_abs;
  record.action_prob_max_abs = summary.action_prob_max_abs;
  record.all_finite = summary.all_finite;
  record.repeat_identical = summary.repeat_identical;
  record.passed = summary.passed;
  record.duration_s = timed.duration_s();
  record.row_ms_median = timed.row_ms_median();
  base::JsonValue json = validation::to_json(summary);
  json.set("model", base::JsonValue::string(model.identity().name));
  if (model.identity().remapped) json.set("remapped", base::JsonValue::boolean(true));
  json.set("device", base::JsonValue::string("cpu"));
  json.set("isa", base::JsonValue::string(std::string(model.isa())));
  json.set("artifact_revision", base::JsonValue::null());
  json.set("weights", base::JsonValue::string(record.weights));
  json.set("duration_s", base::JsonValue::real(record.duration_s));
  json.set("row_ms_median", base::JsonValue::real(record.row_ms_median));
  json.set("record", record_json(record, input, no_record_reason(model, input, summary)));
  return Model::ParityReport{write_json(json, base::JsonStyle::kIndent1), summary.passed};
}

}  // namespace

// The file's rows are input, not rows of ours: what the encoder cannot take is the file's fault.
Status check_cases(const LoadedModel& model, std::span<const ReferenceCase> cases) {
  for (const ReferenceCase& reference : cases) {
    for (const ReferenceRow& row : reference.rows) {
      const encoder::ModelRow view{row.ids, row.markers, row.type, {}, {}};
      const Status status = encoder::check_rows(model.encoder_config(), std::span(&view, 1));
      if (!status.ok()) {
        return validation::at_case(reference, {ErrorCode::kInvalidRequest, status.error().message});
      }
    }
  }
  return {};
}

Status check_parity_dtype(const std::string& dtype) {
  if (dtype != "auto") return {};
  return Error{
      ErrorCode::kInvalidRequest,
      "parity measures one number format, and auto is chosen from its records; use --dtype "
      "float32, float16, bfloat16 or int8"};
}

Result<Model::ParityReport> run_parity(const LoadedModel& model, const ParityInput& input,
                                       const validation::Forward& forward,
                                       const validation::ProgressFunction& progress) {
  if (input.goldens.has_value()) {
    return run_gate(model, std::string(*input.goldens), input, forward, progress);
  }
  LAYARD_ASSIGN(const std::string goldens, shipped_goldens(model));
  auto report = run_gate(model, goldens, input, forward, progress);
  if (report.ok() || !report.error().message.starts_with("goldens ")) return report;
  return Error{report.error().code,
               "'" + shipped_path(model).string() + "': " + report.error().message};
}

}  // namespace layard::runtime
