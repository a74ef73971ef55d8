#include "runtime/parity_run.h"

#include "base/filesystem.h"
#include "decision/codec.h"
#include "encoder/reference.h"
#include "runtime/prepare.h"

namespace layard::runtime {
namespace {

using validation::ReferenceCase;
using validation::ReferenceRow;

constexpr std::uint64_t kGoldensBytesMax = std::uint64_t{256} << 20U;

Result<std::vector<ReferenceRow>> build_rows(const LoadedModel& model,
                                             const ReferenceCase& reference) {
  LAYARD_ASSIGN(const State state, decision::read_state(reference.state));
  LAYARD_ASSIGN(const QuestionSet questions, decision::read_questions(reference.questions, {}));
  LAYARD_ASSIGN(const PreparedRequest prepared,
                prepare(state, questions, OverflowPolicy::kCut, model.tools()));
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

// The file's rows are input, not rows of ours: what the encoder cannot take is the file's fault.
Status check_cases(const LoadedModel& model, const std::vector<ReferenceCase>& cases) {
  for (const ReferenceCase& reference : cases) {
    for (const ReferenceRow& row : reference.rows) {
      const encoder::ModelRow view{row.ids, row.markers, row.type, {}, {}};
      const Status status = encoder::check_rows(model.encoder_config(), std::span(&view, 1));
      if (!status.ok()) {
        return Error{ErrorCode::kInvalidRequest,
                     "goldens case '" + reference.name + "': " + status.error().message};
      }
    }
  }
  return {};
}

Result<std::string> shipped_goldens(const LoadedModel& model) {
  const auto path = std::filesystem::path(model.identity().folder) / "goldens.jsonl";
  auto text = base::real_filesystem().read_text(path, kGoldensBytesMax);
  if (text.ok()) return text;
  return Error{ErrorCode::kInvalidRequest,
               "model '" + model.identity().name +
                   "' ships no goldens.jsonl; name reference outputs with "
                   "--goldens FILE"};
}

}  // namespace

Result<Model::ParityReport> run_parity(const LoadedModel& model,
                                       std::optional<std::string_view> goldens,
                                       const std::string& dtype, const validation::Forward& forward,
                                       const validation::ProgressFunction& progress) {
  std::string shipped;
  if (!goldens.has_value()) {
    LAYARD_ASSIGN(shipped, shipped_goldens(model));
    goldens = shipped;
  }
  LAYARD_ASSIGN(const std::vector<ReferenceCase> cases, validation::read_reference(*goldens));
  LAYARD_TRY(check_cases(model, cases));
  validation::GateOptions options;
  options.precision = dtype;
  options.tolerance =
      dtype == "float32" ? validation::kToleranceFloat32 : validation::kToleranceFloat16;
  const bool parallel = model.tools().spec.parallel_options;
  if (parallel) {
    return Error{ErrorCode::kInvalidRequest,
                 "parity does not know the parallel option layout; its goldens hold no positions"};
  }
  const validation::BuildRows build = [&](const ReferenceCase& reference) {
    return build_rows(model, reference);
  };
  LAYARD_ASSIGN(
      const validation::GateSummary summary,
      validation::evaluate(cases, model.calibration(), forward, build, options, progress));
  base::JsonValue json = validation::to_json(summary);
  json.set("model", base::JsonValue::string(model.identity().name));
  json.set("device", base::JsonValue::string("cpu"));
  json.set("isa", base::JsonValue::string(std::string(model.isa())));
  json.set("artifact_revision", base::JsonValue::null());
  return Model::ParityReport{write_json(json, base::JsonStyle::kIndent1), summary.passed};
}

}  // namespace layard::runtime
