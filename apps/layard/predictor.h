/// What a command's MODEL stands for: one checkpoint, or `auto`, the choice between two by
/// language; and what stands in its place with --cascade.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/cascade.h"
#include "layard/model.h"
#include "layard/router.h"

namespace CLI {
class App;
}

namespace layard::cli {

/// Adds --default-model, whose value is empty when it is not given.
void add_default_model(CLI::App& command, std::string& default_model);

class Predictor {
 public:
  /// `auto` is opened lazily, so that only checkpoints are loaded that some text needs.
  /// Errors: those of Model::open and LayaRouter::open; kInvalidRequest for a default model beside
  /// another model than `auto`.
  static Result<Predictor> open(const ModelOptions& options, const std::string& default_model);

  /// Errors: those of Cascade::open.
  static Result<Predictor> open_cascade(const CascadeOptions& options);

  Result<Prediction> predict(const State& state, const QuestionSet& questions,
                             const PredictOptions& options);
  std::vector<Result<Prediction>> predict_many(std::span<const Request> requests,
                                               const PredictOptions& options);
  /// REQUIRES: not a cascade.
  Result<std::string> render_json(std::string_view context, std::string_view questions,
                                  const PredictOptions& options);

 private:
  std::unique_ptr<Model> model_;  // exactly one of these
  std::unique_ptr<LayaRouter> router_;
  std::unique_ptr<Cascade> cascade_;
};

}  // namespace layard::cli
