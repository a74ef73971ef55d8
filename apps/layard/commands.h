/// The subcommands of `layard`: each adds itself to the parser and returns its work.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "layard/model.h"

namespace layard::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitCheckFailed = 1;
inline constexpr int kExitError = 2;

/// Options that stand before the command.
struct Globals {
  bool offline = false;
  std::string log_level = "warning";
  std::string models_file;
  std::string isa;
  int threads = 0;
};

/// What a parsed command runs; returns the exit code.
using Run = std::function<int()>;

void add_predict(CLI::App& app, const Globals& globals, Run& run);
void add_render(CLI::App& app, const Globals& globals, Run& run);
void add_tokenize(CLI::App& app, const Globals& globals, Run& run);
void add_info(CLI::App& app, const Globals& globals, Run& run);
void add_download(CLI::App& app, const Globals& globals, Run& run);
void add_benchmark(CLI::App& app, const Globals& globals, Run& run);
void add_cache(CLI::App& app, const Globals& globals, Run& run);
void add_parity(CLI::App& app, const Globals& globals, Run& run);
void add_completion(CLI::App& app, Run& run);

/// Prints `error: <Type>: <text>` on stderr and returns kExitError.
int report(const Error& error);

/// The process environment with the global options applied.
Result<Environment> environment(const Globals& globals);

/// Options of a model named on the command line, warnings going to stderr.
Result<ModelOptions> model_options(const Globals& globals, const std::string& model,
                                   const std::string& device, const std::string& dtype);

}  // namespace layard::cli
