#include "layard/model.h"

#include <atomic>
#include <mutex>

#include "base/checks.h"
#include "base/clock.h"
#include "encoder/reference.h"
#include "runtime/devices.h"
#include "runtime/info.h"
#include "runtime/loaded_model.h"
#include "runtime/parity_run.h"
#include "runtime/prepare.h"
#include "runtime/render.h"
#include "runtime/resolve.h"
#include "runtime/tie_recheck.h"
#include "validation/parity.h"

namespace layard {
namespace {

// Tokens of one forward pass: bounds the session's memory; more rows run in further passes with the
// same results.
constexpr std::size_t kTokensPerRun = 16384;

std::int64_t next_request_id() {
  static std::atomic<std::int64_t> counter{0};
  return ++counter;
}

using runtime::LoadedModel;
using runtime::PreparedRequest;

// One request on its way through predict_many.
struct Job {
  const State* state = nullptr;
  const QuestionSet* questions = nullptr;
  OverflowPolicy overflow = OverflowPolicy::kCut;
  PreparedRequest prepared;
  std::optional<Error> error;
  std::size_t first_row = 0;
  std::size_t rechecked = 0;

  std::size_t rows() const {
    return error.has_value() ? 0 : prepared.passes.size() * questions->questions.size();
  }
};

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

}  // namespace

struct Model::Impl {
  ModelOptions options;
  runtime::DeviceChoice device;
  std::mutex mutex;  // guards `loaded` and forward passes
  std::unique_ptr<LoadedModel> loaded;
  base::RealClock clock;

  Result<LoadedModel*> ensure_loaded() {
    const std::lock_guard lock(mutex);
    if (loaded == nullptr) {
      LAYARD_TRY(runtime::require_runnable(device));
      LAYARD_ASSIGN(const runtime::ModelIdentity identity, runtime::resolve_model(options));
      LAYARD_ASSIGN(loaded, LoadedModel::load(identity, options));
    }
    return loaded.get();
  }

  Status run_rows(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                  std::span<encoder::RowOutput> outputs) {
    const std::lock_guard lock(mutex);
    return run_in_passes(model.session(), rows, outputs);
  }

  bool rechecks(const LoadedModel& model) const {
    return options.tie_recheck && model.is_reduced();
  }

  // Runs the rows at `which` in float32; their outputs take the place of those there.
  Status run_exactly(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                     std::span<const std::size_t> which, std::span<encoder::RowOutput> outputs) {
    std::vector<encoder::ModelRow> again;
    for (const std::size_t row : which) again.push_back(rows[row]);
    std::vector<encoder::RowOutput> exact(again.size());
    bool first = false;
    {
      const std::lock_guard lock(mutex);
      first = !model.has_exact_session();
      LAYARD_ASSIGN(backends::Session * session, model.exact_session());
      LAYARD_TRY(run_in_passes(*session, again, exact));
    }
    for (std::size_t i = 0; i < which.size(); ++i) outputs[which[i]] = std::move(exact[i]);
    if (first && options.log) {
      options.log("info", "first near tie: the float32 weights are loaded beside " + model.dtype());
    }
    return {};
  }

  // Decides near ties in float32. When that fails, so do the requests that have some.
  void recheck_ties(LoadedModel& model, std::span<Job> jobs,
                    std::span<const encoder::ModelRow> rows,
                    std::span<encoder::RowOutput> outputs) {
    std::vector<std::size_t> which;
    for (Job& job : jobs) {
      if (job.rows() == 0) continue;
      const auto mine = outputs.subspan(job.first_row, job.rows());
      for (const std::size_t row :
           runtime::near_tie_rows(*job.questions, mine, model.calibration())) {
        which.push_back(job.first_row + row);
        ++job.rechecked;
      }
    }
    if (which.empty()) return;
    const Status status = run_exactly(model, rows, which, outputs);
    for (Job& job : jobs) {
      if (!status.ok() && job.rechecked > 0) job.error = status.error();
    }
  }

  RuntimeInfo runtime_info(const LoadedModel& model, const Job& job) const {
    RuntimeInfo info;
    info.backend = "cpu";
    info.device = "cpu";
    info.model = model.identity().name;
    info.model_revision = model.identity().revision;
    info.sequence_length = static_cast<std::int64_t>(job.prepared.longest_row());
    info.question_count = static_cast<std::int64_t>(job.questions->questions.size());
    info.routing_reason = device.reason;
    info.artifact_revision =
        "cpu:" + model.identity().weights_sha256.substr(0, 12) + ":" + model.dtype();
    info.dtype = model.dtype();
    info.truncated = job.prepared.truncated();
    if (rechecks(model)) info.rechecked = static_cast<std::int64_t>(job.rechecked);
    return info;
  }
};

namespace {

std::vector<RawRow> raw_rows(const Job& job, std::span<const encoder::RowOutput> outputs) {
  std::vector<RawRow> raw;
  std::size_t at = 0;
  for (const auto& pass : job.prepared.passes) {
    for (std::size_t i = 0; i < pass.size(); ++i, ++at) {
      raw.push_back({job.questions->questions[i].id, pass[i].ids, pass[i].markers,
                     outputs[at].logits, decision::act_softmax(outputs[at].act)});
    }
  }
  return raw;
}

Prediction no_questions(const ModelOptions& options) {
  Prediction prediction;
  prediction.runtime.model = options.model;
  prediction.runtime.routing_reason = "no_questions";
  prediction.runtime.request_id = next_request_id();
  return prediction;
}

// A request may name a model; this call runs the one it was opened with, and says so.
void warn_about_model(const Request& request, const LoadedModel& model, AnswerSet& answers) {
  if (!request.model.has_value() || *request.model == model.identity().name) return;
  answers.warnings.push_back("the request names model '" + request.model->substr(0, 80) + "'; '" +
                             model.identity().name + "' answered it");
}

void prepare_job(LoadedModel& model, Job& job, std::vector<encoder::ModelRow>& rows) {
  auto prepared = runtime::prepare(*job.state, *job.questions, job.overflow, model.tools());
  if (!prepared.ok()) {
    job.error = prepared.error();
    return;
  }
  job.prepared = *std::move(prepared);
  job.first_row = rows.size();
  for (const auto& pass : job.prepared.passes) {
    for (const auto& row : pass) rows.push_back(runtime::model_row(row));
  }
  const auto mine = std::span(rows).subspan(job.first_row);
  if (const Status status = encoder::check_rows(model.encoder_config(), mine); !status.ok()) {
    job.error = status.error();
    rows.resize(job.first_row);
  }
}

}  // namespace

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::open(const ModelOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  LAYARD_ASSIGN(impl->device, runtime::choose_device(options.device));
  LAYARD_TRY(runtime::check_options(options));
  std::unique_ptr<Model> model(new Model(std::move(impl)));
  if (!options.lazy) {
    LAYARD_TRY(model->impl_->ensure_loaded());
  }
  return model;
}

std::vector<Result<Prediction>> Model::predict_many(std::span<const Request> requests,
                                                    const PredictOptions& options) {
  const double start_ms = impl_->clock.now_ms();
  std::vector<Result<Prediction>> results;
  std::vector<Job> jobs(requests.size());
  std::vector<encoder::ModelRow> rows;
  LoadedModel* model = nullptr;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Job& job = jobs[i];
    job.state = &requests[i].state;
    job.questions = &requests[i].questions;
    job.overflow = requests[i].overflow.value_or(options.overflow);
    if (job.questions->questions.empty()) continue;
    if (model == nullptr) {
      auto loaded = impl_->ensure_loaded();
      if (!loaded.ok()) return std::vector<Result<Prediction>>(requests.size(), loaded.error());
      model = *loaded;
    }
    prepare_job(*model, job, rows);
  }
  std::vector<encoder::RowOutput> outputs(rows.size());
  const double run_ms = impl_->clock.now_ms();
  Status status;
  if (!rows.empty()) status = impl_->run_rows(*model, rows, outputs);
  if (!rows.empty() && status.ok() && impl_->rechecks(*model)) {
    impl_->recheck_ties(*model, jobs, rows, outputs);
  }
  const double device_ms = impl_->clock.now_ms() - run_ms;
  for (Job& job : jobs) {
    if (job.questions->questions.empty()) {
      results.emplace_back(no_questions(impl_->options));
      continue;
    }
    if (!job.error.has_value() && !status.ok()) job.error = status.error();
    if (job.error.has_value()) {
      results.emplace_back(*job.error);
      continue;
    }
    const auto mine = std::span(outputs).subspan(job.first_row, job.rows());
    auto answers = runtime::finish(*job.questions, job.prepared, mine, model->calibration());
    if (!answers.ok()) {
      results.emplace_back(answers.error());
      continue;
    }
    Prediction prediction;
    prediction.answers = *std::move(answers);
    prediction.runtime = impl_->runtime_info(*model, job);
    prediction.runtime.request_id = next_request_id();
    prediction.runtime.device_ms = device_ms;
    if (options.raw) prediction.rows = raw_rows(job, mine);
    warn_about_model(requests[&job - jobs.data()], *model, prediction.answers);
    prediction.runtime.latency_ms = impl_->clock.now_ms() - start_ms;
    results.emplace_back(std::move(prediction));
  }
  return results;
}

Result<Prediction> Model::predict(const State& state, const QuestionSet& questions,
                                  const PredictOptions& options) {
  const Request request{state, questions, std::nullopt, std::nullopt};
  return std::move(predict_many(std::span(&request, 1), options)[0]);
}

Result<std::string> Model::predict_json(std::string_view request, const CodecOptions& codec) {
  LAYARD_ASSIGN(const Request parsed, parse_request(request, codec));
  Result<Prediction> prediction = std::move(predict_many(std::span(&parsed, 1), {})[0]);
  if (!prediction.ok()) return prediction.error();
  return print_prediction(*prediction, codec);
}

Result<std::string> Model::predict_json(std::string_view context, std::string_view questions,
                                        const CodecOptions& codec, const PredictOptions& options) {
  LAYARD_ASSIGN(const State state, context_from_text(context));
  LAYARD_ASSIGN(const QuestionSet parsed, parse_questions(questions, codec));
  LAYARD_ASSIGN(const Prediction prediction, predict(state, parsed, options));
  return print_prediction(prediction, codec);
}

Result<std::string> Model::render_json(std::string_view context, std::string_view questions,
                                       const CodecOptions& codec, const PredictOptions& options) {
  LAYARD_ASSIGN(const State state, context_from_text(context));
  LAYARD_ASSIGN(const QuestionSet parsed, parse_questions(questions, codec));
  LAYARD_ASSIGN(LoadedModel * model, impl_->ensure_loaded());
  LAYARD_ASSIGN(const PreparedRequest prepared,
                runtime::prepare(state, parsed, options.overflow, model->tools()));
  return runtime::render(parsed, prepared, model->tokens(), codec);
}

Result<Model::ParityReport> Model::parity(
    std::optional<std::string_view> goldens,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  LAYARD_TRY(runtime::check_parity_dtype(impl_->options.dtype));
  LAYARD_ASSIGN(LoadedModel * model, impl_->ensure_loaded());
  return runtime::run_parity(
      *model, {goldens, impl_->options.environment.cache_dir, impl_->clock},
      [&](std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
        return impl_->run_rows(*model, rows, outputs);
      },
      progress);
}

Result<Model::Facts> Model::facts() {
  LAYARD_ASSIGN(LoadedModel * model, impl_->ensure_loaded());
  return Facts{model->tools().spec.max_len, model->dtype(), std::string(model->isa())};
}

Result<std::int64_t> Model::sequence_length(const State& state, const QuestionSet& questions) {
  LAYARD_ASSIGN(LoadedModel * model, impl_->ensure_loaded());
  LAYARD_ASSIGN(const PreparedRequest prepared,
                runtime::prepare(state, questions, OverflowPolicy::kCut, model->tools()));
  if (prepared.truncated()) return std::int64_t{model->tools().spec.max_len} + 1;
  return static_cast<std::int64_t>(prepared.longest_row());
}

std::string Model::info_json() {
  const std::lock_guard lock(impl_->mutex);
  return runtime::model_info(impl_->options, impl_->device, impl_->loaded.get());
}

}  // namespace layard
