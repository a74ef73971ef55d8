#include <iostream>
#include <memory>

#include "commands.h"

namespace layard::cli {

void add_info(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "info", "Version, platform, devices, and each model's pin and state; for bug reports");
  auto model = std::make_shared<std::string>();
  command->add_option("model", *model, "Only this model")->type_name(kModelOrAutoType);
  command->callback([&globals, &run, model] {
    run = [&globals, model] {
      const auto resolved = environment(globals);
      if (!resolved.ok()) return report(resolved.error());
      const auto json = info_json(*resolved, globals.offline, *model);
      if (!json.ok()) return report(json.error());
      std::cout << *json << "\n";
      return kExitOk;
    };
  });
}

}  // namespace layard::cli
