#include <iostream>
#include <memory>
#include <vector>

#include "commands.h"
#include "layard/router.h"
#include "progress.h"

namespace layard::cli {
namespace {

// `auto` stands for the checkpoints it chooses between.
std::vector<std::string> checkpoints_of(const std::vector<std::string>& models) {
  std::vector<std::string> names;
  for (const std::string& model : models) {
    if (is_auto_model(model)) {
      names.insert(names.end(), auto_checkpoints().begin(), auto_checkpoints().end());
    } else {
      names.push_back(model);
    }
  }
  return names;
}

int download(const Globals& globals, const std::vector<std::string>& models) {
  const auto resolved = environment(globals);
  if (!resolved.ok()) return report(resolved.error());
  for (const std::string& model : checkpoints_of(models)) {
    Progress progress(model);
    const auto done =
        download_model(*resolved, globals.offline, model,
                       [&](std::string_view file, std::uint64_t bytes, std::uint64_t total) {
                         progress.set_label(model + "/" + std::string(file));
                         progress.update(bytes, total);
                       });
    if (!done.ok()) return report(done.error());
    std::cout << done->repository << "@" << done->revision.substr(0, 12) << " -> " << done->path
              << " (sha256 of model.safetensors verified)\n";
  }
  return kExitOk;
}

}  // namespace

void add_download(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "download", "Fetch checkpoints at their pinned revision into the hub cache, all or nothing");
  command->footer(
      "Reads HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE and the proxy variables.\n"
      "An interrupted download goes on where it stopped.");
  auto models = std::make_shared<std::vector<std::string>>();
  command->add_option("model", *models, "Model names; auto: laya and laya-multilingual")
      ->type_name(kHubModelType)
      ->required();
  command->callback([&globals, &run, models] {
    run = [&globals, models] { return download(globals, *models); };
  });
}

}  // namespace layard::cli
