#include "layard/model.h"

#include "base/clock.h"
#include "runtime/engine.h"
#include "runtime/parity_run.h"
#include "runtime/render.h"
#include "runtime/resolve.h"

namespace layard {

using runtime::DecisionJob;
using runtime::LoadedModel;
using runtime::PreparedRequest;

struct Model::Impl {
  std::unique_ptr<runtime::Engine> engine;
  base::RealClock clock;
};

namespace {

Prediction no_questions(const ModelOptions& options) {
  Prediction prediction;
  prediction.runtime.model = options.model;
  prediction.runtime.routing_reason = "no_questions";
  prediction.runtime.remapped = runtime::is_remapped(options);
  return prediction;
}

}  // namespace

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::open(const ModelOptions& options) {
  auto impl = std::make_unique<Impl>();
  LAYARD_ASSIGN(impl->engine, runtime::Engine::open(options));
  if (!options.lazy) LAYARD_TRY(impl->engine->ensure_loaded());
  return std::unique_ptr<Model>(new Model(std::move(impl)));
}

std::vector<Result<Prediction>> Model::predict_many(std::span<const Request> requests,
                                                    const PredictOptions& options) {
  const double start_ms = impl_->clock.now_ms();
  runtime::Engine& engine = *impl_->engine;
  std::vector<DecisionJob> jobs(requests.size());
  std::vector<DecisionJob*> runnable;
  LoadedModel* model = nullptr;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    jobs[i].request = &requests[i];
    jobs[i].layout = {options.overflow, options.orders};
    if (requests[i].questions.questions.empty()) continue;
    if (model == nullptr) {
      auto loaded = engine.ensure_loaded();
      if (!loaded.ok()) return std::vector<Result<Prediction>>(requests.size(), loaded.error());
      model = *loaded;
      engine.warn_about_format(*model);
    }
    runtime::Engine::prepare(*model, jobs[i]);
    runnable.push_back(&jobs[i]);
  }
  if (model != nullptr) engine.run(*model, runnable);
  std::vector<Result<Prediction>> results;
  results.reserve(jobs.size());
  for (const DecisionJob& job : jobs) {
    const bool empty = job.request->questions.questions.empty();
    Result<Prediction> result =
        empty ? no_questions(engine.options()) : engine.finish(*model, job, options.raw);
    if (result.ok()) {
      if (empty) runtime::add_request_warnings(*job.request, result->answers);
      result->runtime.request_id = runtime::next_request_id();
      if (!empty) result->runtime.latency_ms = impl_->clock.now_ms() - start_ms;
    }
    results.push_back(std::move(result));
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
  LAYARD_ASSIGN(LoadedModel * model, impl_->engine->ensure_loaded());
  LAYARD_ASSIGN(const PreparedRequest prepared,
                runtime::prepare(state, parsed, {options.overflow}, model->tools()));
  return runtime::render(parsed, prepared, model->tokens(), codec);
}

Result<Model::ParityReport> Model::parity(
    std::optional<std::string_view> goldens,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  LAYARD_TRY(runtime::check_parity_dtype(impl_->engine->options().dtype));
  LAYARD_ASSIGN(LoadedModel * model, impl_->engine->ensure_loaded());
  return runtime::run_parity(
      *model, {goldens, impl_->engine->options().environment.cache_dir, impl_->clock},
      [&](std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
        return impl_->engine->run_rows(*model, rows, outputs);
      },
      progress);
}

Result<Model::Facts> Model::facts() {
  LAYARD_ASSIGN(LoadedModel * model, impl_->engine->ensure_loaded());
  return Facts{model->tools().spec.max_len, model->dtype(), std::string(model->isa()),
               model->identity().remapped};
}

Result<std::int64_t> Model::sequence_length(const State& state, const QuestionSet& questions) {
  LAYARD_ASSIGN(LoadedModel * model, impl_->engine->ensure_loaded());
  LAYARD_ASSIGN(const PreparedRequest prepared,
                runtime::prepare(state, questions, {}, model->tools()));
  if (prepared.truncated()) return std::int64_t{model->tools().spec.max_len} + 1;
  return static_cast<std::int64_t>(prepared.longest_row());
}

std::string Model::info_json() { return impl_->engine->info_json(); }

}  // namespace layard
