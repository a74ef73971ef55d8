#include <iostream>
#include <memory>

#include "commands.h"
#include "input.h"
#include "predictor.h"

namespace layard::cli {
namespace {

struct Options {
  std::string model = "starter";
  std::string context;
  std::string questions;
  std::string overflow = "cut";
  std::string default_model;
};

Result<std::string> render(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const RequestInput input, read_request(options.context, options.questions));
  LAYARD_ASSIGN(const ModelOptions resolved,
                model_options(globals, options.model, "auto", "float32"));
  LAYARD_ASSIGN(Predictor predictor, Predictor::open(resolved, options.default_model));
  PredictOptions predict;
  predict.overflow = *overflow_policy_from_string(options.overflow);
  return predictor.render_json(input.context, input.questions_text, predict);
}

}  // namespace

void add_render(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "render", "Show what the model would read: ids, tokens, options, what is cut");
  auto options = std::make_shared<Options>();
  add_model_option(*command, options->model, kModelOrAutoType);
  add_default_model(*command, options->default_model);
  command->add_option("--context", options->context, "The text, @FILE or -")
      ->type_name(kValueType)
      ->required();
  command->add_option("--questions", options->questions, "The questions as JSON, @FILE or -")
      ->type_name(kValueType)
      ->required();
  command->add_option("--overflow", options->overflow, "What to do with a text that does not fit")
      ->check(CLI::IsMember({"cut", "error", "windows"}))
      ->capture_default_str();
  command->callback([&globals, &run, options] {
    run = [&globals, options] {
      const auto json = render(globals, *options);
      if (!json.ok()) return report(json.error());
      std::cout << *json << "\n";
      return kExitOk;
    };
  });
}

}  // namespace layard::cli
