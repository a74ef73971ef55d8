/// The choice of a checkpoint by language: `auto` in front of `laya` and `laya-multilingual`.
///
///   layard::RouterOptions options;
///   options.checkpoints.environment = layard::Environment::from_process().value();
///   auto router = layard::LayaRouter::open(options).value();
///   auto result = router->predict({"Der Kunde wurde zweimal belastet."}, questions, {}).value();
///   // result.runtime.model == "laya-multilingual", result.runtime.model_routing ==
///   // "language_not_english"
///
/// docs/languages.md says how the language is told, and lists every reason.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/model.h"
#include "layard/question.h"

namespace layard {

/// Whether a model's name stands for the router: `auto`, blanks around it and case ignored.
LAYARD_EXPORT bool is_auto_model(std::string_view name);

/// The checkpoints that `auto` chooses between, English first.
LAYARD_EXPORT std::span<const std::string_view> auto_checkpoints();

/// How to open a router.
struct RouterOptions {
  /// How each checkpoint is opened; its `model` is not read. `lazy`: each with the first text that
  /// needs it, else all at once.
  ModelOptions checkpoints;
  /// Answers texts whose language cannot be told, or that have no letters: anything that
  /// ModelOptions::model may be.
  std::string default_model = "laya";
};

/// What a text looks like. Fractions and rates are in [0, 1].
struct LanguageDetection {
  /// Names rules and tables, such as `laya-0.3.20/unicode-16.0`.
  std::string detector;
  /// `latin`, `cyrillic`, ..., `other`; `unknown` without letters.
  std::string script;
  /// Shares of all letters: Latin first, then in order of appearance.
  std::vector<std::pair<std::string, double>> script_profile;
  /// ISO 639-1; only of text in Latin script.
  std::optional<std::string> language;
  bool is_english = true;
  bool language_undecided = true;
  double diacritic_rate = 0;
  double non_latin_fraction = 0;
};

/// Which checkpoint is to answer, and why.
struct Route {
  /// The name it is opened by: `laya`, `laya-multilingual`, or RouterOptions::default_model.
  std::string checkpoint;
  /// `language_english`, `language_non_latin_script`, `language_not_english`,
  /// `language_undecided_default` or `no_text_default`; empty where no language decided.
  std::string model_routing;
  /// The checkpoint's short name: `english`, `multilingual`, `typed-decisions`, else its name.
  std::string model;
  /// Its repository and pinned revision; nothing when a models file or a path leads to a folder.
  std::optional<std::string> repo;
  std::optional<std::string> revision;
  /// A sentence for people. Holds nothing of the text.
  std::string reason;
  /// Nothing where the request or the server's configuration decided.
  std::optional<LanguageDetection> detection;
  /// The known set of questions that the request's names are; never changes the checkpoint.
  std::optional<std::string> workflow;
};

/// The routing block of a result: {"model", "repo", "reason", "detection", "workflow"} on one line.
/// Source: laya-apple 1.7.0 (fields and order); departs: `repo` is null for a folder, and
/// `detection` ends with `detector`.
LAYARD_EXPORT std::string print_route(const Route& route);

/// Answers each request with the checkpoint that can read its language. Once loaded, a checkpoint
/// stays: two take the memory of both.
/// Source: laya-apple 1.7.0 LayaRouter, laya 0.3.20 Router (choice and reasons).
/// Thread-safety: all calls may come from any thread. Each checkpoint is loaded once, however many
/// wait for it; its forward passes run one at a time, beside the other's.
class LAYARD_EXPORT LayaRouter {
 public:
  /// Errors: kUnsupportedModel and kBackendUnavailable for a default_model that is unknown or not
  /// installed, kArtifactIntegrity and kIo for a models file that cannot be used, kInvalidRequest
  /// (an option out of range; `auto` as default_model); those of Model::open unless lazy.
  static Result<std::unique_ptr<LayaRouter>> open(const RouterOptions& options);

  LayaRouter(const LayaRouter&) = delete;
  LayaRouter& operator=(const LayaRouter&) = delete;
  ~LayaRouter();

  /// The choice for a request. Loads and runs nothing; looks at 4,000 characters at most.
  /// Errors: kInvalidRequest when a state that says it is JSON is not.
  Result<Route> route(const State& state, const QuestionSet& questions) const;

  /// As Model::predict, by the chosen checkpoint. runtime.model and runtime.model_routing name the
  /// choice, `routing` among answers.extra is print_route's text.
  /// Errors: those of route() and of Model::predict. A checkpoint that is not on this machine and
  /// must not be fetched is kBackendUnavailable and names `layard download`.
  Result<Prediction> predict(const State& state, const QuestionSet& questions,
                             const PredictOptions& options);

  /// As Model::predict_many; requests of one checkpoint share forward passes. One that fails, or a
  /// checkpoint that cannot be loaded, fails no request of the other.
  std::vector<Result<Prediction>> predict_many(std::span<const Request> requests,
                                               const PredictOptions& options);

  /// The JSON doors of Model.
  Result<std::string> predict_json(std::string_view request, const CodecOptions& codec);
  Result<std::string> predict_json(std::string_view context, std::string_view questions,
                                   const CodecOptions& codec, const PredictOptions& options);

  /// As Model::render_json, with `routing` as the last member.
  Result<std::string> render_json(std::string_view context, std::string_view questions,
                                  const CodecOptions& codec, const PredictOptions& options);

  /// {"model": "auto", "router": "language", "detector", "default_model", "checkpoints": {name:
  /// Model::info_json}}.
  std::string info_json();

 private:
  struct Impl;
  explicit LayaRouter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace layard
