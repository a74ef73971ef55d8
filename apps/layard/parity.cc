#include <iostream>
#include <memory>

#include "commands.h"
#include "input.h"
#include "progress.h"

namespace layard::cli {
namespace {

struct Options {
  std::string model = "starter";
  std::optional<std::string> goldens;
  std::string device = "auto";
  std::string dtype = "float32";
};

Result<Model::ParityReport> parity(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const ModelOptions resolved,
                model_options(globals, options.model, options.device, options.dtype));
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, Model::open(resolved));
  std::optional<std::string> goldens;
  if (options.goldens.has_value()) {
    LAYARD_ASSIGN(goldens, read_file(*options.goldens, kFileBytesMax));
  }
  Progress progress("parity");
  return model->parity(goldens,
                       [&](std::size_t done, std::size_t total) { progress.update(done, total); });
}

}  // namespace

void add_parity(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "parity", "Compare a model with recorded reference outputs; exit 1 when it does not agree");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "starter, a model name, or a checkpoint folder")
      ->capture_default_str();
  command->add_option("--goldens", options->goldens,
                      "JSON Lines of {state, questions, rows} or one object with cases "
                      "(default: goldens.jsonl in the model's folder)");
  command->add_option("--device", options->device, "auto, cpu, gpu or npu")->capture_default_str();
  command->add_option("--dtype", options->dtype, "float32, float16, bfloat16 or int8")
      ->capture_default_str();
  command->footer(
      "The result is recorded in the cache folder (at least 200 rows); `--dtype auto` of the "
      "other\n"
      "commands takes the fastest number format that passed:\n"
      "  for d in float32 bfloat16 int8; do layard parity starter --dtype $d; done");
  command->callback([&globals, &run, options] {
    run = [&globals, options] {
      const auto result = parity(globals, *options);
      if (!result.ok()) return report(result.error());
      std::cout << result->json << "\n";
      return result->passed ? kExitOk : kExitCheckFailed;
    };
  });
}

}  // namespace layard::cli
