#include "runtime/engine.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "checkpoint/registry.h"
#include "decision/answers.h"
#include "encoder/reference.h"
#include "runtime/info.h"
#include "runtime/resolve.h"
#include "runtime/tie_recheck.h"

namespace layard::runtime {
namespace {

// Tokens of one forward pass: bounds the session's memory; more rows run in further passes with the
// same results.
constexpr std::size_t kTokensPerRun = 16384;

// Runs all rows, some thousands of tokens at a time.
Status run_in_passes(backends::Session& session, std::span<const encoder::ModelRow> rows,
                     std::span<encoder::RowOutput> outputs) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t tokens = rows[first].ids.size();
    std::size_t last = first + 1;
    while (last < rows.size() && tokens + rows[last].ids.size() <= kTokensPerRun) {
      tokens += rows[last++].ids.size();
    }
    LAYARD_TRY(
        session.run(rows.subspan(first, last - first), outputs.subspan(first, last - first)));
    first = last;
  }
  return {};
}

std::vector<RawRow> raw_rows(const DecisionJob& job) {
  std::vector<RawRow> raw;
  const QuestionSet& asked = job.prepared.asked(job.request->questions);
  for (const auto& pass : job.prepared.passes) {
    for (std::size_t i = 0; i < pass.size(); ++i) {
      const Question& question = asked.questions[i];
      const encoder::RowOutput& output = job.outputs[raw.size()];
      raw.push_back({question.id, pass[i].ids, pass[i].markers, output.logits,
                     decision::act_softmax(output.act)});
      if (!job.prepared.ordered.empty()) raw.back().option_order = question.option_order;
    }
  }
  return raw;
}

// A request may name a model; this engine runs the one it was opened with, and says so.
void warn_about_model(const Request& request, const LoadedModel& model, AnswerSet& answers) {
  const std::string& opened = model.identity().name;
  if (!request.model.has_value() || *request.model == opened) return;
  const checkpoint::ModelSpec* named = checkpoint::find_spec(*request.model);
  if (named != nullptr && named == checkpoint::find_spec(opened)) return;  // by an alias
  answers.warnings.push_back("the request names model '" + request.model->substr(0, 80) + "'; '" +
                             opened + "' answered it");
}

}  // namespace

void add_request_warnings(const Request& request, AnswerSet& answers) {
  answers.warnings.insert(answers.warnings.end(), request.warnings.begin(), request.warnings.end());
}

std::int64_t next_request_id() {
  static std::atomic<std::int64_t> counter{0};
  return ++counter;
}

Result<std::unique_ptr<Engine>> Engine::open(const ModelOptions& options) {
  std::unique_ptr<Engine> engine(new Engine(options));
  LAYARD_ASSIGN(engine->device_, choose_device(options.device));
  LAYARD_TRY(check_options(options));
  return engine;
}

Result<LoadedModel*> Engine::ensure_loaded() {
  const std::lock_guard lock(mutex_);
  if (loaded_ == nullptr) {
    LAYARD_TRY(require_runnable(device_));
    LAYARD_ASSIGN(const ModelIdentity identity, resolve_model(options_));
    auto opened = LoadedModel::load(identity, options_);
    if (!opened.ok()) return at_entry(identity.models_file_entry, opened.error());
    loaded_ = *std::move(opened);
  }
  return loaded_.get();
}

void Engine::prepare(const LoadedModel& model, DecisionJob& job) {
  const Layout layout{job.request->overflow.value_or(job.layout.overflow),
                      job.request->orders.value_or(job.layout.orders)};
  auto prepared =
      runtime::prepare(job.request->state, job.request->questions, layout, model.tools());
  if (!prepared.ok()) {
    job.error = prepared.error();
    return;
  }
  job.prepared = *std::move(prepared);
  for (const auto& pass : job.prepared.passes) {
    for (const auto& row : pass) job.rows.push_back(model_row(row));
  }
  job.outputs.resize(job.rows.size());
  job.rechecked.assign(job.rows.size(), 0);
  job.pending.resize(job.rows.size());
  std::iota(job.pending.begin(), job.pending.end(), std::size_t{0});
  const Status status = encoder::check_rows(model.encoder_config(), job.rows);
  if (!status.ok()) job.error = status.error();
}

Status Engine::run_rows(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                        std::span<encoder::RowOutput> outputs) {
  const std::lock_guard lock(mutex_);
  return run_in_passes(model.session(), rows, outputs);
}

void Engine::run(LoadedModel& model, std::span<DecisionJob* const> jobs) {
  const double start_ms = clock_.now_ms();
  std::vector<encoder::ModelRow> rows;
  for (const DecisionJob* job : jobs) {
    if (job->error.has_value()) continue;
    for (const std::size_t row : job->pending) rows.push_back(job->rows[row]);
  }
  std::vector<encoder::RowOutput> outputs(rows.size());
  Status status;
  if (!rows.empty()) status = run_rows(model, rows, outputs);
  std::size_t next = 0;
  for (DecisionJob* job : jobs) {
    if (job->error.has_value()) continue;
    for (const std::size_t row : job->pending) job->outputs[row] = std::move(outputs[next++]);
    if (!status.ok()) job->error = status.error();
  }
  if (rechecks(model)) recheck_ties(model, jobs);
  const double device_ms = clock_.now_ms() - start_ms;
  for (DecisionJob* job : jobs) job->device_ms = device_ms;
}

bool Engine::rechecks(const LoadedModel& model) const {
  return options_.tie_recheck && model.is_reduced();
}

// Decides near ties in float32. When that fails, so do the requests that have some.
void Engine::recheck_ties(LoadedModel& model, std::span<DecisionJob* const> jobs) {
  struct Place {
    DecisionJob* job;
    std::size_t row;
  };
  std::vector<Place> places;
  std::vector<encoder::ModelRow> rows;
  for (DecisionJob* job : jobs) {
    if (job->error.has_value()) continue;
    const auto ties = near_tie_rows(job->prepared.asked(job->request->questions), job->outputs,
                                    model.calibration());
    std::vector<std::size_t> again;
    std::ranges::set_intersection(ties, job->pending, std::back_inserter(again));
    for (const std::size_t row : again) {
      places.push_back({job, row});
      rows.push_back(job->rows[row]);
    }
  }
  if (rows.empty()) return;
  std::vector<encoder::RowOutput> exact(rows.size());
  const Status status = run_exactly(model, rows, exact);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].job->rechecked[places[i].row] = 1;
    places[i].job->outputs[places[i].row] = std::move(exact[i]);
    if (!status.ok()) places[i].job->error = status.error();
  }
}

Status Engine::run_exactly(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                           std::span<encoder::RowOutput> outputs) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !model.has_exact_session();
    LAYARD_ASSIGN(backends::Session * session, model.exact_session());
    LAYARD_TRY(run_in_passes(*session, rows, outputs));
  }
  if (first && options_.log) {
    options_.log("info", "first near tie: the float32 weights are loaded beside " + model.dtype());
  }
  return {};
}

RuntimeInfo Engine::runtime_info(const LoadedModel& model, const DecisionJob& job) const {
  RuntimeInfo info;
  info.backend = "cpu";
  info.device = "cpu";
  info.model = model.identity().name;
  info.model_revision = model.identity().revision;
  info.sequence_length = static_cast<std::int64_t>(job.prepared.longest_row());
  info.question_count = static_cast<std::int64_t>(job.request->questions.questions.size());
  info.routing_reason = device_.reason;
  info.artifact_revision =
      "cpu:" + model.identity().weights_sha256.substr(0, 12) + ":" + model.dtype();
  info.dtype = model.dtype();
  info.truncated = job.prepared.truncated();
  info.device_ms = job.device_ms;
  info.remapped = model.identity().remapped;
  if (rechecks(model)) info.rechecked = std::ranges::count(job.rechecked, 1);
  return info;
}

Result<Prediction> Engine::finish(const LoadedModel& model, const DecisionJob& job,
                                  bool raw) const {
  if (job.error.has_value()) return *job.error;
  Prediction prediction;
  LAYARD_ASSIGN(prediction.answers, runtime::finish(job.request->questions, job.prepared,
                                                    job.outputs, model.calibration()));
  prediction.runtime = runtime_info(model, job);
  if (raw) prediction.rows = raw_rows(job);
  add_request_warnings(*job.request, prediction.answers);
  warn_about_model(*job.request, model, prediction.answers);
  return prediction;
}

// Once an engine, with its first answers: a gate that is run again is not answered for.
void Engine::warn_about_format(const LoadedModel& model) {
  if (model.format_warning().empty() || format_warned_.exchange(true) || !options_.log) return;
  options_.log("warning", model.format_warning());
}

std::string Engine::info_json() {
  const std::lock_guard lock(mutex_);
  return model_info(options_, device_, loaded_.get());
}

}  // namespace layard::runtime
