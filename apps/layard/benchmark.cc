#include "layard/benchmark.h"

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "commands.h"
#include "progress.h"

namespace layard::cli {
namespace {

struct Options {
  std::string model = "starter";
  std::string device = "auto";
  std::string dtype = "float32";
  BenchmarkOptions benchmark;
  std::optional<std::string> output;
};

Error cannot_write(const std::string& path) {
  return {ErrorCode::kIo, "cannot write '" + path + "'; the records are on standard output"};
}

Result<bool> run_benchmark(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const ModelOptions resolved,
                model_options(globals, options.model, options.device, options.dtype));
  std::ofstream file;
  if (options.output.has_value()) {
    file.open(*options.output, std::ios::trunc);
    if (!file) return Error{ErrorCode::kIo, "cannot write '" + *options.output + "'"};
  }
  Progress progress("benchmark");
  LAYARD_ASSIGN(const bool passed,
                benchmark(
                    resolved, options.benchmark,
                    [&](std::string_view record) {
                      std::cout << record << std::endl;
                      if (file.is_open()) file << record << "\n" << std::flush;
                    },
                    [&](std::size_t done, std::size_t total) { progress.update(done, total); }));
  if (file.is_open() && !file) return cannot_write(*options.output);
  return passed;
}

}  // namespace

void add_benchmark(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "benchmark",
      "Time a model on prompts of exact lengths; one JSON line a length, exit 1 when one failed");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "starter, a model name, or a checkpoint folder")
      ->capture_default_str();
  command->add_option("--lengths", options->benchmark.lengths, "Tokens of the longest prompt row")
      ->capture_default_str();
  command->add_option("--questions", options->benchmark.questions, "Questions of one request")
      ->capture_default_str();
  command->add_option("--warmup", options->benchmark.warmup, "Untimed calls before the timed ones")
      ->capture_default_str();
  command
      ->add_option("--iters", options->benchmark.iters,
                   "Timed forward passes, then timed predictions")
      ->capture_default_str();
  command->add_option("--device", options->device, "auto, cpu, gpu or npu")->capture_default_str();
  command->add_option("--dtype", options->dtype, "float32, float16, bfloat16, int8 or auto")
      ->capture_default_str();
  command->add_option("--output", options->output, "Also write the records to this file");
  command->callback([&globals, &run, options] {
    run = [&globals, options] {
      const auto passed = run_benchmark(globals, *options);
      if (!passed.ok()) return report(passed.error());
      return *passed ? kExitOk : kExitCheckFailed;
    };
  });
}

}  // namespace layard::cli
