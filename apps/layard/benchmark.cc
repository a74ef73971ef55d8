#include "layard/benchmark.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "commands.h"
#include "output.h"
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

/// The file of --output: kept as it is until there is a record to put into it.
class Output {
 public:
  explicit Output(std::optional<std::string> path) : path_(std::move(path)) {}
  ~Output() {
    if (made_ && !written_) std::remove(path_->c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Status check() {
    if (!path_) return {};
    std::error_code ignored;
    made_ = !std::filesystem::exists(*path_, ignored);
    file_.open(*path_, std::ios::app);
    if (file_) return {};
    made_ = false;
    return Error{ErrorCode::kIo, "cannot write --output '" + *path_ +
                                     "': " + std::generic_category().message(errno) +
                                     "; name a file in a folder that you may write to"};
  }
  void add(std::string_view record) {
    if (!path_) return;
    if (!std::exchange(written_, true)) {
      file_.close();
      file_.open(*path_, std::ios::trunc);
    }
    file_ << record << "\n" << std::flush;
  }
  bool failed() const { return path_.has_value() && !file_; }

 private:
  std::optional<std::string> path_;
  std::ofstream file_;
  bool made_ = false;
  bool written_ = false;
};

Result<bool> run_benchmark(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const ModelOptions resolved,
                model_options(globals, options.model, options.device, options.dtype));
  Output output(options.output);
  LAYARD_TRY(output.check());
  Progress progress("benchmark");
  BenchmarkOptions measured = options.benchmark;
  // Minutes of work whose records nobody would see; a file keeps them.
  if (!options.output) measured.cancelled = output_is_lost;
  LAYARD_ASSIGN(const bool passed,
                benchmark(
                    resolved, measured,
                    [&](std::string_view record) {
                      std::cout << record << std::endl;
                      output.add(record);
                    },
                    [&](std::size_t done, std::size_t total) { progress.update(done, total); }));
  if (output.failed()) return cannot_write(*options.output);
  return passed;
}

}  // namespace

void add_benchmark(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "benchmark",
      "Time a model on prompts of exact lengths; one JSON line a length, exit 1 when one failed");
  auto options = std::make_shared<Options>();
  add_model_option(*command, options->model);
  command->add_option("--lengths", options->benchmark.lengths, "Tokens of the longest prompt row")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--questions", options->benchmark.questions, "Questions of one request")
      ->capture_default_str();
  command->add_option("--warmup", options->benchmark.warmup, "Untimed calls before the timed ones")
      ->capture_default_str();
  command
      ->add_option("--iters", options->benchmark.iters,
                   "Timed forward passes, then timed predictions")
      ->capture_default_str();
  add_device_option(*command, options->device);
  add_dtype_option(*command, options->dtype, "Number format; auto as in predict");
  command->add_option("--output", options->output, "Also write the records to this file")
      ->type_name(kFileType);
  command->callback([&globals, &run, options] {
    run = [&globals, options] {
      const auto passed = run_benchmark(globals, *options);
      if (!passed.ok() && passed.error().code == ErrorCode::kCancelled) {
        std::cout.setstate(std::ios::badbit);  // main says that the output is lost
        return kExitError;
      }
      if (!passed.ok()) return report(passed.error());
      return *passed ? kExitOk : kExitCheckFailed;
    };
  });
}

}  // namespace layard::cli
