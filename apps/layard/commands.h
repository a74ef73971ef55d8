/// The subcommands of `layard`: each adds itself to the parser and returns its work.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

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
  std::optional<int> threads;
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
void add_serve(CLI::App& app, const Globals& globals, Run& run);
void add_gateway(CLI::App& app, const Globals& globals, Run& run);
void add_doctor(CLI::App& app, const Globals& globals, Run& run);
void add_route(CLI::App& app, const Globals& globals, Run& run);
void add_evaluate(CLI::App& app, const Globals& globals, Run& run);
void add_fit_temperatures(CLI::App& app, const Globals& globals, Run& run);
void add_completion(CLI::App& app, Run& run);
void add_help(CLI::App& app, Run& run);

/// The hidden command `__complete` behind the completion scripts: prints what the last of the words
/// typed behind the program's name may become. Returns the exit code.
int complete(const CLI::App& app, const Globals& globals, const std::vector<std::string>& typed);

/// The hidden command `__guard`, which the gateway starts for each backend (gateway/guard.h): it
/// runs the command of `arguments`, those behind its name. Nothing may have started a thread.
/// Returns the exit code.
int guard(const std::vector<std::string>& arguments);

/// What an option takes, for help and completion, which read it back from the option's type name.
/// The values of one_of() are not checked here: the library refuses others, and says why.
CLI::Option* one_of(CLI::Option* option, std::initializer_list<const char*> values);
inline constexpr const char* kModelType = "MODEL";             // a name or a folder
inline constexpr const char* kModelOrFileType = "MODEL|FILE";  // also a tokenizer.json
inline constexpr const char* kModelOrAutoType = "MODEL|auto";
inline constexpr const char* kHubModelType = "NAME";  // a name that can be downloaded
inline constexpr const char* kCommandType = "COMMAND";
inline constexpr const char* kFileType = "FILE";           // also `-`
inline constexpr const char* kValueType = "TEXT|@FILE|-";  // see input.h

/// `[MODEL]`, `--device` and `--dtype`, the same in every command that has them.
void add_model_option(CLI::App& command, std::string& model, const char* type = kModelType);
void add_device_option(CLI::App& command, std::string& device);
/// `--calibration`, empty when it is not given.
void add_calibration_option(CLI::App& command, std::string& calibration);
CLI::Option* add_dtype_option(CLI::App& command, std::string& dtype, const char* about);

/// Prints `error: <Type>: <text>` on stderr and returns kExitError.
int report(const Error& error);

/// The process environment with the global options applied.
Result<Environment> environment(const Globals& globals);

/// Options of a model named on the command line, warnings going to stderr.
Result<ModelOptions> model_options(const Globals& globals, const std::string& model,
                                   const std::string& device, const std::string& dtype);

}  // namespace layard::cli
