#include "runtime/golden_self_test.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/filesystem.h"
#include "runtime/parity_run.h"

namespace layard::runtime {
namespace {

using validation::ReferenceCase;
using validation::ReferenceRow;

// Enough to find a wrong kernel or device; how good a reduced format is, the parity gate says.
constexpr double kToleranceReduced = 5 * validation::kToleranceReduced;
constexpr std::size_t kQuestionTypes = 3;

// One case a question type, of its one shortest row.
std::vector<ReferenceCase> shortest_rows(const std::vector<ReferenceCase>& cases) {
  std::array<const ReferenceCase*, kQuestionTypes> from{};
  std::array<const ReferenceRow*, kQuestionTypes> shortest{};
  for (const ReferenceCase& reference : cases) {
    for (const ReferenceRow& row : reference.rows) {
      const auto type = static_cast<std::size_t>(row.type);
      if (type >= kQuestionTypes) continue;
      if (shortest[type] != nullptr && shortest[type]->ids.size() <= row.ids.size()) continue;
      shortest[type] = &row;
      from[type] = &reference;
    }
  }
  std::vector<ReferenceCase> out;
  for (std::size_t type = 0; type < kQuestionTypes; ++type) {
    if (shortest[type] == nullptr) continue;
    ReferenceCase one;
    one.name = from[type]->name;
    one.where = from[type]->where;
    one.rows.push_back(*shortest[type]);
    out.push_back(std::move(one));
  }
  return out;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g", value);
  return text.data();
}

Error in_file(const std::filesystem::path& file, const Error& error) {
  return {error.code, "'" + file.string() + "': " + error.message};
}

Error disagrees(const LoadedModel& model, const std::filesystem::path& file,
                const validation::GateSummary& summary) {
  const double off = std::max(summary.prob_max_abs, summary.action_prob_max_abs);
  const std::string how = !summary.all_finite ? "gives numbers that are not finite"
                          : !summary.repeat_identical
                              ? "gives other numbers each time"
                              : "is off by " + number(off) + " in a probability (" +
                                    number(summary.tolerance) + " is allowed)";
  return {
      ErrorCode::kBackendUnavailable,
      "self-test: " + model.identity().name + " on cpu (" + std::string(model.isa()) + ", " +
          model.dtype() + ") " + how + " against '" + file.string() +
          "'; `layard parity` compares all of it. If the file is of other weights, remove it; " +
          "else try LAYARD_FORCE_ISA=scalar and report the machine"};
}

}  // namespace

Status golden_self_test(const LoadedModel& model, const validation::Forward& forward) {
  if (model.tools().spec.parallel_options) return {};
  const auto file = std::filesystem::path(model.identity().folder) / "goldens.jsonl";
  const auto there = base::real_filesystem().stat(file);
  if (!there.ok() || !there->has_value() || (*there)->size_bytes > kSelfTestGoldensBytesMax)
    return {};
  LAYARD_ASSIGN(const std::string text,
                base::real_filesystem().read_text(file, kSelfTestGoldensBytesMax));
  const auto cases = validation::read_reference(text);
  if (!cases.ok()) return in_file(file, cases.error());
  const std::vector<ReferenceCase> chosen = shortest_rows(*cases);
  if (chosen.empty()) return {};
  const Status runnable = check_cases(model, chosen);
  if (!runnable.ok()) return in_file(file, runnable.error());
  validation::GateOptions options;
  options.precision = model.dtype();
  options.tolerance = model.is_reduced() ? kToleranceReduced : validation::kToleranceFloat32;
  LAYARD_ASSIGN(const validation::GateSummary summary,
                validation::evaluate(chosen, model.calibration(), forward, {}, options, {}));
  const bool agrees = summary.all_finite && summary.repeat_identical &&
                      summary.prob_max_abs <= options.tolerance &&
                      summary.action_prob_max_abs <= options.tolerance;
  return agrees ? Status() : Status(disagrees(model, file, summary));
}

}  // namespace layard::runtime
