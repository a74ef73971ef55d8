// From a model and labelled questions to a calibration file.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/filesystem.h"
#include "checkpoint/agent_config.h"
#include "decision/calibration.h"
#include "evaluation/ask.h"
#include "evaluation/calibration_json.h"
#include "evaluation/fit.h"
#include "evaluation/judge.h"
#include "layard/evaluation.h"
#include "runtime/engine.h"

namespace layard {
namespace {

using evaluation::AskedCases;
using evaluation::AskedQuestion;
using evaluation::CalibrationContent;
using evaluation::FitRecord;
using evaluation::Temperatures;

Status check(const FitOptions& options) {
  constexpr std::size_t kFloorMax = kEvaluationQuestionsMax;
  if (!(options.target_error > 0 && options.target_error < 1)) {
    return Error{ErrorCode::kInvalidRequest, "target_error must be above 0 and below 1"};
  }
  for (const std::size_t floor : {options.bucket_floor, options.type_floor}) {
    if (floor >= 1 && floor <= kFloorMax) continue;
    return Error{ErrorCode::kInvalidRequest,
                 "bucket_floor and type_floor must be from 1 to 1,000,000"};
  }
  return {};
}

std::vector<FitRecord> to_records(std::span<const EvaluationCase> cases, AskedCases asked) {
  std::vector<FitRecord> out;
  out.reserve(asked.questions.size());
  for (AskedQuestion& question : asked.questions) {
    FitRecord record;
    record.type = question.type;
    record.bucket = decision::temperature_bucket(question.type, question.logits.size());
    record.logits = std::move(question.logits);
    record.target = cases[question.at_case].targets[question.at_question];
    record.temperature = question.temperature;
    out.push_back(std::move(record));
  }
  return out;
}

// Sums of held-out questions, before and after.
struct HeldOut {
  double nll_before = 0;
  double nll_after = 0;
  std::vector<JudgedAnswer> before;
  std::vector<JudgedAnswer> after;

  void add(const FitRecord& record, double temperature) {
    const auto nll = [&record](double t) {
      const auto log_p = evaluation::log_probabilities(record.logits, t);
      double sum = 0;
      for (std::size_t i = 0; i < log_p.size(); ++i) {
        if (record.target[i] > 0) sum -= record.target[i] * log_p[i];
      }
      return sum;
    };
    nll_before += nll(record.temperature);
    nll_after += nll(temperature);
    before.push_back(evaluation::judged_answer(record, record.temperature, {}));
    after.push_back(evaluation::judged_answer(record, temperature, {}));
  }

  void finish(TemperatureFit& out) const {
    out.held_out = before.size();
    if (before.empty()) return;
    const auto count = static_cast<double>(before.size());
    out.nll_before = nll_before / count;
    out.nll_after = nll_after / count;
    out.calibration_error_before = calibration_error(reliability_bins(before, kReliabilityBins));
    out.calibration_error_after = calibration_error(reliability_bins(after, kReliabilityBins));
  }
};

/// What is measured on the held-out fifth, by bucket, by type and of all.
class Measurement {
 public:
  Measurement(std::span<const FitRecord> records, const FitOptions& options,
              const std::map<std::string, std::size_t>& counted) {
    const std::vector<bool> held_out = evaluation::held_out_records(records);
    std::vector<FitRecord> kept;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!held_out[i]) kept.push_back(records[i]);
    }
    const Temperatures temperatures = evaluation::fit_all(kept, options, counted);
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!held_out[i]) continue;
      const double temperature = temperatures.of(records[i].type, records[i].bucket);
      for (const std::string& name :
           {std::string("all"), std::string(to_string(records[i].type)), records[i].bucket}) {
        sums_[name].add(records[i], temperature);
      }
    }
  }

  void finish(TemperatureFit& out) const {
    const auto found = sums_.find(out.name);
    if (found != sums_.end()) found->second.finish(out);
  }

 private:
  std::map<std::string, HeldOut> sums_;
};

// One row of the report.
TemperatureFit report_row(const std::string& name, const CalibrationContent& content,
                          const Measurement& measurement) {
  TemperatureFit out;
  out.name = name;
  out.questions = content.counted.at(name);
  const Temperatures& fitted = content.temperatures;
  out.clamped = std::ranges::find(fitted.clamped, name) != fitted.clamped.end();
  const std::size_t colon = name.find(':');
  const auto type = *question_type_from_string(name.substr(0, colon));
  out.temperature = fitted.of(type, name);
  out.fitted = colon == std::string::npos ? out.questions >= content.options.type_floor
                                          : fitted.by_bucket.contains(name);
  if (const auto found = content.thresholds.find(name); found != content.thresholds.end()) {
    out.has_threshold = true;
    out.threshold = found->second;
  }
  measurement.finish(out);
  return out;
}

// The names of types and buckets in the order in which they are shown.
bool shown_before(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    const std::size_t colon = std::min(name.find(':'), name.size());
    const auto type = static_cast<int>(*question_type_from_string(name.substr(0, colon)));
    const std::string_view size = std::string_view(name).substr(colon);
    constexpr std::array<std::string_view, 5> kSizes = {"", ":2", ":3-5", ":6-10", ":11+"};
    return std::pair(type, std::ranges::find(kSizes, size) - kSizes.begin());
  };
  return key(a) < key(b);
}

CalibrationFit report(const CalibrationContent& content, std::span<const FitRecord> records) {
  CalibrationFit out;
  const Measurement measurement(records, content.options, content.counted);
  out.all.name = "all";
  out.all.questions = records.size();
  measurement.finish(out.all);
  std::vector<std::string> names;
  for (const auto& [name, count] : content.counted) names.push_back(name);
  std::ranges::sort(names, shown_before);
  for (const std::string& name : names) {
    auto& rows = name.find(':') == std::string::npos ? out.types : out.buckets;
    rows.push_back(report_row(name, content, measurement));
  }
  out.json = evaluation::calibration_json(content);
  return out;
}

Result<base::JsonValue> read_config(const std::string& folder) {
  const auto path = std::filesystem::path(folder) / "rl_agent_config.json";
  LAYARD_ASSIGN(const std::string text,
                base::real_filesystem().read_text(path, checkpoint::kAgentConfigBytesMax));
  return checkpoint::parse_agent_json(text, path.string());
}

}  // namespace

Result<CalibrationFit> fit_temperatures(
    const ModelOptions& model, std::span<const EvaluationCase> cases, const FitOptions& options,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  LAYARD_TRY(check(options));
  LAYARD_ASSIGN(const auto engine, runtime::Engine::open(model));
  LAYARD_ASSIGN(AskedCases asked, evaluation::ask_cases(*engine, cases, false, progress));
  LAYARD_ASSIGN(const runtime::LoadedModel* loaded, engine->ensure_loaded());
  const std::vector<FitRecord> records = to_records(cases, std::move(asked));
  CalibrationContent content;
  content.model = loaded->identity().name;
  content.weights_sha256 = loaded->identity().weights_sha256;
  content.dtype = loaded->dtype();
  LAYARD_ASSIGN(content.config, read_config(loaded->identity().folder));
  content.questions = records.size();
  content.options = options;
  content.counted = evaluation::count_records(records);
  content.temperatures = evaluation::fit_all(records, options, content.counted);
  if (options.binning_map) {
    content.binning = evaluation::fit_binning(records, content.temperatures);
  }
  content.thresholds = evaluation::fit_thresholds(records, content.temperatures, content.binning,
                                                  options.target_error);
  return report(content, records);
}

}  // namespace layard
