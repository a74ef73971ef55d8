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
  LAYARD_ASSIGN(ModelOptions resolved,
                model_options(globals, options.model, options.device, options.dtype));
  // Loading warns about formats; what the gate refuses is refused before.
  resolved.lazy = true;
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, Model::open(resolved));
  std::optional<std::string> goldens;
  if (options.goldens.has_value()) {
    LAYARD_ASSIGN(goldens, read_file(*options.goldens, kFileBytesMax));
  }
  Progress progress("parity");
  auto report = model->parity(
      goldens, [&](std::size_t done, std::size_t total) { progress.update(done, total); });
  if (report.ok() || !options.goldens || !report.error().message.starts_with("goldens ")) {
    return report;
  }
  return Error{report.error().code,
               "--goldens '" + *options.goldens + "': " + report.error().message};
}

}  // namespace

void add_parity(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "parity", "Compare a model with recorded reference outputs; exit 1 when it does not agree");
  auto options = std::make_shared<Options>();
  add_model_option(*command, options->model);
  command
      ->add_option("--goldens", options->goldens,
                   "JSON Lines of {state, questions, rows} or one object with cases "
                   "(default: goldens.jsonl in the model's folder)")
      ->type_name(kFileType);
  add_device_option(*command, options->device);
  one_of(add_dtype_option(*command, options->dtype, "The number format to measure"),
         {"float32", "float16", "bfloat16", "int8"});
  command->footer(
      "The result is recorded in the cache folder (a pass on at least 200 rows); `--dtype auto` "
      "of\n"
      "the other commands takes the fastest number format that passed:\n"
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
