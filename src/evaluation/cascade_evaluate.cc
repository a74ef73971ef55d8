// A chain of checkpoints on labelled lines: fitted on one half, measured on the other.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/clock.h"
#include "base/python_random.h"
#include "decision/calibration.h"
#include "evaluation/cascade_answers.h"
#include "evaluation/cascade_rules.h"
#include "layard/cascade.h"
#include "runtime/resolve.h"

namespace layard {
namespace {

using Progress = std::function<void(std::size_t, std::size_t)>;

// Lines of one call: fills forward passes and bounds what waits in memory.
constexpr std::size_t kLinesPerCall = 64;
constexpr std::size_t kCurveSteps = 20;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

// The most probable option as it is printed, the first of equals.
std::size_t picked_option(const Question& question, const Answer& answer) {
  if (const auto* noul = std::get_if<NoulAnswer>(&answer.value)) return noul->noul > 0.5 ? 1 : 0;
  if (const auto* choice = std::get_if<ChoiceAnswer>(&answer.value)) {
    return static_cast<std::size_t>(std::ranges::find(question.labels, choice->choice) -
                                    question.labels.begin());
  }
  const auto& p = std::get<ScoreAnswer>(answer.value).probabilities;
  return static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
}

bool is_right(const Question& question, const Answer& answer, const Target& target) {
  const std::size_t picked = picked_option(question, answer);
  return picked < target.size() && target[picked] == *std::ranges::max_element(target);
}

Error at_line(const EvaluationCase& at, Error error) {
  error.message = "line " + std::to_string(at.line) + ": " + error.message;
  return error;
}

/// What one checkpoint said, and how long it took.
struct StageRun {
  std::string weights_sha256;
  std::string dtype;
  std::vector<CascadeOutcome> outcomes;  // cases in order, their questions in order
  double ms_per_question = 0;
};

Status ask_lines(Model& model, std::span<const EvaluationCase> cases, StageRun& run, double& ms) {
  std::vector<Request> requests;
  for (const EvaluationCase& one : cases) {
    requests.push_back({one.state, one.questions, std::nullopt, std::nullopt});
  }
  const base::Clock& clock = base::real_clock();
  const double start_ms = clock.now_ms();
  const auto results = model.predict_many(requests, {});
  ms += clock.now_ms() - start_ms;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!results[i].ok()) return at_line(cases[i], results[i].error());
    const auto& answers = results[i]->answers.answers;
    for (std::size_t q = 0; q < answers.size(); ++q) {
      run.outcomes.push_back(
          {evaluation::answer_confidence(answers[q]),
           is_right(cases[i].questions.questions[q], answers[q], cases[i].targets[q])});
    }
  }
  return {};
}

Status warm_up(Model& model, const EvaluationCase& first) {
  const auto result = model.predict(first.state, first.questions, {});
  return result.ok() ? Status() : Status(at_line(first, result.error()));
}

Result<StageRun> run_stage(const ModelOptions& options, const std::string& name,
                           std::span<const EvaluationCase> cases,
                           const std::function<void(std::size_t)>& progress) {
  ModelOptions checkpoint = options;
  checkpoint.model = name;
  checkpoint.lazy = false;
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, Model::open(checkpoint));
  LAYARD_ASSIGN(const runtime::ModelIdentity identity, runtime::resolve_model(checkpoint));
  LAYARD_ASSIGN(const Model::Facts facts, model->facts());
  StageRun run;
  run.weights_sha256 = identity.weights_sha256;
  run.dtype = facts.dtype;
  // What a first pass costs on top belongs to no question.
  LAYARD_TRY(warm_up(*model, cases.front()));
  double ms = 0;
  for (std::size_t first = 0; first < cases.size(); first += kLinesPerCall) {
    const std::size_t count = std::min(kLinesPerCall, cases.size() - first);
    LAYARD_TRY(ask_lines(*model, cases.subspan(first, count), run, ms));
    progress(first + count);
  }
  if (!run.outcomes.empty()) run.ms_per_question = ms / static_cast<double>(run.outcomes.size());
  return run;
}

// Which lines are fitted on: half of them, drawn by the seed. All questions of a line stay
// together.
std::vector<bool> fit_half(std::size_t lines, std::uint64_t seed) {
  std::vector<std::size_t> order(lines);
  std::iota(order.begin(), order.end(), std::size_t{0});
  base::PythonRandom random(seed);
  for (std::size_t i = lines - 1; i > 0; --i) {
    std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
  }
  std::vector<bool> fits(lines);
  for (std::size_t i = 0; i < lines / 2; ++i) fits[order[i]] = true;
  return fits;
}

struct Halves {
  std::vector<CascadeCase> fit;
  std::vector<CascadeCase> measure;
  std::size_t fit_lines = 0;
};

Halves split(std::span<const EvaluationCase> cases, std::span<const StageRun> runs,
             std::uint64_t seed) {
  Halves out;
  const std::vector<bool> fits = fit_half(cases.size(), seed);
  std::size_t at = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    out.fit_lines += fits[i] ? 1 : 0;
    for (const Question& question : cases[i].questions.questions) {
      CascadeCase one{decision::temperature_bucket(question.type, question.options.size()), {}};
      for (const StageRun& run : runs) one.stages.push_back(run.outcomes[at]);
      (fits[i] ? out.fit : out.measure).push_back(std::move(one));
      ++at;
    }
  }
  return out;
}

CascadeEvaluation conclude(std::span<const std::string> chain, std::span<const StageRun> runs,
                           const Halves& halves, const CascadeEvaluationOptions& options) {
  CascadeEvaluation out;
  const auto thresholds = fit_cascade_thresholds(halves.fit, options.risk);
  std::vector<double> stage_ms;
  for (std::size_t s = 0; s < chain.size(); ++s) {
    out.plan.chain.push_back({chain[s], runs[s].weights_sha256, thresholds[s]});
    stage_ms.push_back(runs[s].ms_per_question);
    CascadeEvaluation::StageAlone alone{chain[s], 0, 0, stage_ms.back()};
    for (const CascadeCase& one : halves.measure) alone.right += one.stages[s].right ? 1 : 0;
    if (!halves.measure.empty()) {
      alone.accuracy =
          static_cast<double>(alone.right) / static_cast<double>(halves.measure.size());
    }
    out.stages.push_back(std::move(alone));
  }
  out.plan.risk = options.risk;
  out.plan.fitted_on = {options.data, runs[0].dtype, halves.fit.size(), options.seed};
  out.fit_questions = halves.fit.size();
  out.fitted = measure_cascade(halves.measure, thresholds, stage_ms);
  out.curve = cascade_curve(halves.measure, stage_ms, kCurveSteps);
  return out;
}

Status check_options(std::span<const std::string> chain, std::span<const EvaluationCase> cases,
                     const CascadeEvaluationOptions& options) {
  LAYARD_TRY(evaluation::check_chain({chain.begin(), chain.end()}));
  if (!(options.risk > 0 && options.risk < 1)) return invalid("the risk must be between 0 and 1");
  if (options.seed > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return invalid("the seed must be below 2^63");
  }
  const auto asks = [](const EvaluationCase& one) { return !one.questions.questions.empty(); };
  if (std::ranges::count_if(cases, asks) < 2) {
    return invalid(
        "a cascade is fitted on one half of the lines and measured on the other; two "
        "lines with questions are the least");
  }
  return {};
}

}  // namespace

Result<CascadeEvaluation> evaluate_cascade(const ModelOptions& model,
                                           std::span<const std::string> chain,
                                           std::span<const EvaluationCase> cases,
                                           const CascadeEvaluationOptions& options,
                                           const Progress& progress) {
  LAYARD_TRY(check_options(chain, cases, options));
  std::vector<StageRun> runs;
  for (std::size_t s = 0; s < chain.size(); ++s) {
    LAYARD_ASSIGN(StageRun run, run_stage(model, chain[s], cases, [&](std::size_t done) {
                    if (progress) progress(s * cases.size() + done, chain.size() * cases.size());
                  }));
    runs.push_back(std::move(run));
  }
  const Halves halves = split(cases, runs, options.seed);
  if (halves.fit.empty() || halves.measure.empty()) {
    return invalid("one half of the lines asks nothing; use another seed or drop such lines");
  }
  CascadeEvaluation out = conclude(chain, runs, halves, options);
  out.fit_lines = halves.fit_lines;
  out.lines = cases.size() - halves.fit_lines;
  return out;
}

}  // namespace layard
