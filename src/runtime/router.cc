#include "layard/router.h"

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "runtime/calibration_override.h"
#include "runtime/json_layout.h"
#include "runtime/route.h"

namespace layard {

struct LayaRouter::Impl {
  runtime::RouteTargets targets;
  std::vector<std::unique_ptr<Model>> models;  // one a target
  base::RealClock clock;
};

namespace {

using base::JsonValue;
using runtime::RouteChoice;

// Adds the choice to what the checkpoint returned.
void record(const Route& route, Prediction& prediction) {
  prediction.runtime.model_routing = route.model_routing;
  prediction.answers.extra.push_back({"routing", print_route(route)});
}

// Requests that one checkpoint answers, and their places among all.
struct Group {
  std::vector<Request> requests;
  std::vector<std::size_t> places;

  void add(const Request& request, std::size_t place) {
    requests.push_back(request);
    // Asking for `auto` is no wish for another checkpoint than the chosen one.
    std::optional<std::string>& model = requests.back().model;
    if (model.has_value() && is_auto_model(*model)) model.reset();
    places.push_back(place);
  }
};

}  // namespace

LayaRouter::LayaRouter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LayaRouter::~LayaRouter() = default;

Result<std::unique_ptr<LayaRouter>> LayaRouter::open(const RouterOptions& options) {
  LAYARD_TRY(runtime::check_one_calibration(options.checkpoints.calibration_file, "auto"));
  auto impl = std::make_unique<Impl>();
  LAYARD_ASSIGN(impl->targets,
                runtime::find_targets(options.checkpoints.environment, options.default_model));
  for (const runtime::RouteTarget& target : impl->targets.targets) {
    ModelOptions model = options.checkpoints;
    model.model = target.name;
    LAYARD_ASSIGN(std::unique_ptr<Model> opened, Model::open(model));
    impl->models.push_back(std::move(opened));
  }
  return std::unique_ptr<LayaRouter>(new LayaRouter(std::move(impl)));
}

Result<Route> LayaRouter::route(const State& state, const QuestionSet& questions) const {
  LAYARD_ASSIGN(RouteChoice choice, runtime::choose_route(impl_->targets, state, questions));
  return std::move(choice.route);
}

Result<Prediction> LayaRouter::predict(const State& state, const QuestionSet& questions,
                                       const PredictOptions& options) {
  const double start_ms = impl_->clock.now_ms();
  LAYARD_ASSIGN(const RouteChoice choice, runtime::choose_route(impl_->targets, state, questions));
  const double routing_ms = impl_->clock.now_ms() - start_ms;
  LAYARD_ASSIGN(Prediction prediction,
                impl_->models[choice.target]->predict(state, questions, options));
  prediction.runtime.latency_ms += routing_ms;
  record(choice.route, prediction);
  return prediction;
}

std::vector<Result<Prediction>> LayaRouter::predict_many(std::span<const Request> requests,
                                                         const PredictOptions& options) {
  const double start_ms = impl_->clock.now_ms();
  std::vector<Result<Prediction>> results(
      requests.size(), Error{ErrorCode::kInternal, "a request was not answered"});
  std::vector<Route> routes(requests.size());
  std::vector<Group> groups(impl_->models.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto choice = runtime::choose_route(impl_->targets, requests[i].state, requests[i].questions);
    if (!choice.ok()) {
      results[i] = std::move(choice).error();
      continue;
    }
    groups[choice->target].add(requests[i], i);
    routes[i] = std::move(choice->route);
  }
  for (std::size_t target = 0; target < groups.size(); ++target) {
    const Group& group = groups[target];
    if (group.places.empty()) continue;
    const double waited_ms = impl_->clock.now_ms() - start_ms;
    auto answered = impl_->models[target]->predict_many(group.requests, options);
    for (std::size_t i = 0; i < group.places.size(); ++i) {
      Result<Prediction>& result = results[group.places[i]];
      result = std::move(answered[i]);
      if (!result.ok()) continue;
      result->runtime.latency_ms += waited_ms;
      record(routes[group.places[i]], *result);
    }
  }
  return results;
}

Result<std::string> LayaRouter::predict_json(std::string_view request, const CodecOptions& codec) {
  LAYARD_ASSIGN(const Request parsed, parse_request(request, codec));
  Result<Prediction> prediction = std::move(predict_many(std::span(&parsed, 1), {})[0]);
  if (!prediction.ok()) return prediction.error();
  return print_prediction(*prediction, codec);
}

Result<std::string> LayaRouter::predict_json(std::string_view context, std::string_view questions,
                                             const CodecOptions& codec,
                                             const PredictOptions& options) {
  LAYARD_ASSIGN(const State state, context_from_text(context));
  LAYARD_ASSIGN(const QuestionSet parsed, parse_questions(questions, codec));
  LAYARD_ASSIGN(const Prediction prediction, predict(state, parsed, options));
  return print_prediction(prediction, codec);
}

Result<std::string> LayaRouter::render_json(std::string_view context, std::string_view questions,
                                            const CodecOptions& codec,
                                            const PredictOptions& options) {
  LAYARD_ASSIGN(const State state, context_from_text(context));
  LAYARD_ASSIGN(const QuestionSet parsed, parse_questions(questions, codec));
  LAYARD_ASSIGN(const RouteChoice choice, runtime::choose_route(impl_->targets, state, parsed));
  LAYARD_ASSIGN(const std::string rendered,
                impl_->models[choice.target]->render_json(context, questions, codec, options));
  base::JsonLimits limits;
  limits.bytes_max = rendered.size();
  limits.nodes_max = rendered.size();
  LAYARD_ASSIGN(JsonValue root, base::parse_json(rendered, limits));
  LAYARD_ASSIGN(JsonValue routing, base::parse_json(print_route(choice.route), {}));
  root.set("routing", std::move(routing));
  return write_json(root, runtime::json_style(codec.layout));
}

std::string LayaRouter::info_json() {
  JsonValue checkpoints = JsonValue::object();
  for (std::size_t i = 0; i < impl_->models.size(); ++i) {
    auto info = base::parse_json(impl_->models[i]->info_json(), {});
    checkpoints.set(impl_->targets.targets[i].name, info.ok() ? *std::move(info) : JsonValue());
  }
  JsonValue out = runtime::router_json(impl_->targets);
  out.set("checkpoints", std::move(checkpoints));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard
