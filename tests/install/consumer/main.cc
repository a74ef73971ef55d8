/// Answers one question with the checkpoint in the folder given, through the public headers only.
#include <cstdio>
#include <string>

#include "layard/layard.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto environment = layard::Environment::from_process();
  if (!environment) return 3;
  layard::ModelOptions options;
  options.model = argv[1];
  options.local_files_only = true;
  options.environment = *environment;
  auto model = layard::Model::open(options);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 4;
  }
  const auto questions = layard::parse_questions(R"(["Is this about money?"])", {});
  const auto state = layard::context_from_text("The invoice was charged twice.");
  if (!questions || !state) return 5;
  const auto prediction = (*model)->predict(*state, *questions, {});
  if (!prediction) {
    std::fprintf(stderr, "%s\n", prediction.error().message.c_str());
    return 6;
  }
  std::printf("%s\n", layard::print_prediction(*prediction, {}).c_str());

  // Choosing by language loads nothing.
  layard::RouterOptions router_options;
  router_options.checkpoints = options;
  router_options.checkpoints.lazy = true;
  const auto router = layard::LayaRouter::open(router_options);
  if (!router) return 8;
  const auto route = (*router)->route({"Der Kunde wurde zweimal belastet."}, *questions);
  if (!route || route->checkpoint != "laya-multilingual") return 9;

  // Errors are values here too: an unknown model is a typed refusal, not a crash.
  options.model = "no-such-model";
  const auto refused = layard::Model::open(options);
  return refused.ok() || refused.error().code != layard::ErrorCode::kUnsupportedModel ? 7 : 0;
}
