#include "predictor.h"

#include <CLI/CLI.hpp>

#include "commands.h"

namespace layard::cli {

void add_default_model(CLI::App& command, std::string& default_model) {
  command
      .add_option("--default-model", default_model,
                  "With auto: what answers texts whose language cannot be told (default: laya)")
      ->type_name(kModelType);
}

Result<Predictor> Predictor::open(const ModelOptions& options, const std::string& default_model) {
  Predictor predictor;
  if (!is_auto_model(options.model)) {
    if (!default_model.empty()) {
      return Error{ErrorCode::kInvalidRequest, "--default-model belongs to the model auto; '" +
                                                   options.model + "' answers every text itself"};
    }
    LAYARD_ASSIGN(predictor.model_, Model::open(options));
    return predictor;
  }
  RouterOptions router;
  router.checkpoints = options;
  router.checkpoints.lazy = true;
  if (!default_model.empty()) router.default_model = default_model;
  LAYARD_ASSIGN(predictor.router_, LayaRouter::open(router));
  return predictor;
}

Result<Predictor> Predictor::open_cascade(const CascadeOptions& options) {
  Predictor predictor;
  LAYARD_ASSIGN(predictor.cascade_, Cascade::open(options));
  return predictor;
}

Result<Prediction> Predictor::predict(const State& state, const QuestionSet& questions,
                                      const PredictOptions& options) {
  if (cascade_ != nullptr) {
    LAYARD_ASSIGN(CascadePrediction found, cascade_->predict(state, questions, options));
    return std::move(found.prediction);
  }
  if (router_ != nullptr) return router_->predict(state, questions, options);
  return model_->predict(state, questions, options);
}

std::vector<Result<Prediction>> Predictor::predict_many(std::span<const Request> requests,
                                                        const PredictOptions& options) {
  if (cascade_ != nullptr) {
    std::vector<Result<Prediction>> out;
    for (Result<CascadePrediction>& found : cascade_->predict_many(requests, options)) {
      out.push_back(found.ok() ? Result<Prediction>(std::move(found->prediction))
                               : Result<Prediction>(found.error()));
    }
    return out;
  }
  if (router_ != nullptr) return router_->predict_many(requests, options);
  return model_->predict_many(requests, options);
}

Result<std::string> Predictor::render_json(std::string_view context, std::string_view questions,
                                           const PredictOptions& options) {
  if (router_ != nullptr) return router_->render_json(context, questions, {}, options);
  return model_->render_json(context, questions, {}, options);
}

}  // namespace layard::cli
