#include <iostream>
#include <memory>

#include "commands.h"

namespace layard::cli {
namespace {

struct Options {
  std::string model;
  std::string calibration;
};

Result<std::string> info(const Globals& globals, const Options& options) {
  if (options.calibration.empty()) {
    LAYARD_ASSIGN(const Environment resolved, environment(globals));
    return info_json(resolved, globals.offline, options.model);
  }
  const std::string model = options.model.empty() ? "starter" : options.model;
  LAYARD_ASSIGN(ModelOptions resolved, model_options(globals, model, "auto", "float32"));
  resolved.calibration_file = options.calibration;
  return info_json(resolved);
}

}  // namespace

void add_info(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "info", "Version, platform, devices, and each model's pin and state; for bug reports");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "Only this model")->type_name(kModelOrAutoType);
  command
      ->add_option("--calibration", options->calibration,
                   "Also what this calibration file holds, and whether it is of the model's "
                   "weights (default: starter's)")
      ->type_name(kFileType);
  command->callback([&globals, &run, options] {
    run = [&globals, options] {
      const auto json = info(globals, *options);
      if (!json.ok()) return report(json.error());
      std::cout << *json << "\n";
      return kExitOk;
    };
  });
}

}  // namespace layard::cli
