#include "layard/cascade.h"

#include <mutex>
#include <utility>

#include "base/checks.h"
#include "decision/calibration.h"
#include "evaluation/cascade_answers.h"
#include "evaluation/cascade_rules.h"
#include "runtime/resolve.h"

namespace layard {
namespace {

struct Stage {
  std::string name;
  ModelOptions options;
  std::unique_ptr<Model> model;
  std::string weights_sha256;  // that its thresholds are for; empty where they were set by hand
  std::vector<CascadeThreshold> thresholds;
  bool checked = false;  // that its weights are those
};

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

Status check_thresholds(const CascadeOptions& options) {
  if (options.plan.has_value() && options.threshold.has_value()) {
    return invalid("a cascade has fitted thresholds or one set by hand; give one of the two");
  }
  if (options.threshold.has_value()) {
    if (*options.threshold >= 0 && *options.threshold <= 1) return {};
    return invalid("the cascade's threshold must be from 0 to 1");
  }
  if (!options.plan.has_value()) {
    return invalid(
        "a cascade needs thresholds: fit them on labelled data (layard evaluate --cascade " +
        joined(options.chain) +
        " --data FILE --write-cascade THRESHOLDS, then --cascade-file THRESHOLDS), or set one by "
        "hand (--cascade-threshold X)");
  }
  if (options.plan->chain.size() == options.chain.size()) return {};
  return invalid("the thresholds are for a chain of " + std::to_string(options.plan->chain.size()) +
                 " checkpoints, and " + joined(options.chain) + " are " +
                 std::to_string(options.chain.size()) + "; fit them for this chain");
}

}  // namespace

struct Cascade::Impl {
  std::vector<Stage> stages;
  bool by_hand = false;
  std::mutex mutex;  // guards `checked` of the stages

  Status check_weights(Stage& stage);
  void run_stage(std::size_t index, std::span<evaluation::CascadeAnswers> all,
                 const PredictOptions& options);
  void take(std::size_t index, evaluation::CascadeAnswers& answers, const Prediction& prediction);
};

// Once: what other weights are sure of says nothing about these.
Status Cascade::Impl::check_weights(Stage& stage) {
  const std::lock_guard lock(mutex);
  if (stage.checked || stage.weights_sha256.empty()) return {};
  LAYARD_ASSIGN(const runtime::ModelIdentity identity, runtime::resolve_model(stage.options));
  if (identity.weights_sha256 != stage.weights_sha256) {
    return invalid("the cascade's thresholds for '" + stage.name + "' were fitted on the weights " +
                   stage.weights_sha256.substr(0, 12) + ", and its weights are " +
                   identity.weights_sha256.substr(0, 12) + "; fit them anew");
  }
  stage.checked = true;
  return {};
}

void Cascade::Impl::take(std::size_t index, evaluation::CascadeAnswers& answers,
                         const Prediction& prediction) {
  const bool last = index + 1 == stages.size();
  const std::vector<std::size_t> open = answers.open();
  LAYARD_CHECK(prediction.answers.answers.size() == open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Question& question = answers.question(open[i]);
    const std::string bucket = decision::temperature_bucket(question.type, question.options.size());
    const CascadeThreshold* rule =
        last ? nullptr : evaluation::find_threshold(stages[index].thresholds, bucket);
    const auto threshold = rule == nullptr ? std::nullopt : rule->confidence;
    const double confidence = evaluation::answer_confidence(prediction.answers.answers[i]);
    if (!last && !evaluation::is_confident(threshold, confidence)) {
      answers.pass_on(open[i], {stages[index].name, confidence, threshold});
      continue;
    }
    CascadeDecision decision;
    decision.stage = index + 1;
    decision.model = stages[index].name;
    decision.confidence = confidence;
    decision.threshold = threshold;
    decision.reason = last      ? "last_stage"
                      : by_hand ? "by_hand_threshold_reached"
                                : "fitted_threshold_reached";
    if (!last) decision.threshold_of = by_hand ? "by hand" : rule->bucket;
    answers.answer(open[i], prediction, i, std::move(decision));
  }
  answers.add_stage(prediction);
}

void Cascade::Impl::run_stage(std::size_t index, std::span<evaluation::CascadeAnswers> all,
                              const PredictOptions& options) {
  std::vector<evaluation::CascadeAnswers*> asked;
  std::vector<Request> requests;
  for (evaluation::CascadeAnswers& answers : all) {
    if (!answers.is_waiting()) continue;
    asked.push_back(&answers);
    requests.push_back(answers.open_request());
  }
  if (asked.empty()) return;
  const Status status = check_weights(stages[index]);
  if (!status.ok()) {
    for (evaluation::CascadeAnswers* answers : asked) answers->fail(status.error());
    return;
  }
  const auto predictions = stages[index].model->predict_many(requests, options);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (predictions[i].ok()) {
      take(index, *asked[i], *predictions[i]);
    } else {
      asked[i]->fail(predictions[i].error());
    }
  }
}

Cascade::Cascade(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cascade::~Cascade() = default;

Result<std::unique_ptr<Cascade>> Cascade::open(const CascadeOptions& options) {
  LAYARD_TRY(evaluation::check_chain(options.chain));
  LAYARD_TRY(check_thresholds(options));
  auto impl = std::make_unique<Impl>();
  impl->by_hand = options.threshold.has_value();
  for (std::size_t i = 0; i < options.chain.size(); ++i) {
    Stage stage;
    stage.name = options.chain[i];
    stage.options = options.checkpoints;
    stage.options.model = options.chain[i];
    stage.options.lazy = true;
    LAYARD_ASSIGN(stage.model, Model::open(stage.options));
    if (impl->by_hand) {
      stage.thresholds = {{std::string(evaluation::kDefaultBucket), options.threshold}};
    } else {
      stage.weights_sha256 = options.plan->chain[i].weights_sha256;
      stage.thresholds = options.plan->chain[i].thresholds;
    }
    impl->stages.push_back(std::move(stage));
  }
  return std::unique_ptr<Cascade>(new Cascade(std::move(impl)));
}

std::vector<Result<CascadePrediction>> Cascade::predict_many(std::span<const Request> requests,
                                                             const PredictOptions& options) {
  std::vector<evaluation::CascadeAnswers> all;
  all.reserve(requests.size());
  for (const Request& request : requests) all.emplace_back(request);
  for (std::size_t i = 0; i < impl_->stages.size(); ++i) impl_->run_stage(i, all, options);
  std::vector<Result<CascadePrediction>> results;
  results.reserve(all.size());
  for (evaluation::CascadeAnswers& answers : all) {
    if (!answers.is_empty()) {
      results.push_back(answers.finish());
      continue;
    }
    // Nothing is asked, and no checkpoint is loaded.
    auto nothing = impl_->stages[0].model->predict_many(std::span(&answers.request(), 1), options);
    results.push_back(nothing[0].ok()
                          ? Result<CascadePrediction>(CascadePrediction{*std::move(nothing[0]), {}})
                          : Result<CascadePrediction>(nothing[0].error()));
  }
  return results;
}

Result<CascadePrediction> Cascade::predict(const State& state, const QuestionSet& questions,
                                           const PredictOptions& options) {
  const Request request{state, questions, std::nullopt, std::nullopt};
  return std::move(predict_many(std::span(&request, 1), options)[0]);
}

}  // namespace layard
