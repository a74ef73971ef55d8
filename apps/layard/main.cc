// The `layard` program: parses the command line and runs one subcommand.
#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "commands.h"
#include "layard/version.h"
#include "table.h"

namespace layard::cli {

namespace {

// Messages are one line of bounded length, whatever stands in them.
std::string shown(std::string_view message) {
  constexpr std::size_t kMessageBytesMax = 2000;
  std::string text = printable(message.substr(0, kMessageBytesMax));
  return message.size() > kMessageBytesMax ? text + "..." : text;
}

}  // namespace

int report(const Error& error) {
  // Names and texts of the caller may stand in a message: they must not steer a terminal.
  std::cerr << "error: " << error_type_name(error.code) << ": " << shown(error.message) << "\n";
  return error_info(error.code).exit_code;
}

Result<Environment> environment(const Globals& globals) {
  LAYARD_ASSIGN(Environment environment, Environment::from_process());
  if (!globals.models_file.empty()) environment.models_file = globals.models_file;
  if (!globals.isa.empty()) environment.force_isa = globals.isa;
  if (globals.threads > 0) environment.threads = globals.threads;
  return environment;
}

Result<ModelOptions> model_options(const Globals& globals, const std::string& model,
                                   const std::string& device, const std::string& dtype) {
  ModelOptions options;
  LAYARD_ASSIGN(options.environment, environment(globals));
  options.model = model;
  options.device = device;
  options.dtype = dtype;
  options.local_files_only = globals.offline;
  options.log = [](std::string_view level, std::string_view message) {
    spdlog::log(spdlog::level::from_str(std::string(level)), "{}", message);
  };
  return options;
}

namespace {

constexpr const char* kAbout =
    "Typed answers about a text - choice, score, yes/no, each with a calibrated probability.\n\n"
    "  layard predict --context \"I was charged twice.\" --questions '[\"Is this urgent?\"]'\n\n"
    "Values of --context and --questions are text, @FILE, or - for standard input.\n"
    "Results are JSON on stdout, everything else goes to stderr.\n"
    "Exit status: 0 ok, 1 a check failed, 2 an error.";

void add_globals(CLI::App& app, Globals& globals) {
  app.add_flag("--offline", globals.offline, "Never go online; use what is cached");
  app.add_option("--log-level", globals.log_level, "debug, info, warning, error or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--models", globals.models_file, "JSON file of model name -> folder")
      ->check(CLI::ExistingFile);
  app.add_option("--isa", globals.isa,
                 "Force kernels: scalar, avx2, avx512, amx or neon (for tests)");
  app.add_option("--threads", globals.threads,
                 "Threads of the cpu device (default: what is allowed)")
      ->check(CLI::Range(1, 1024));
  app.set_version_flag("--version", std::string("layard ") + std::string(version()));
}

// A global option behind the command is a common slip; say where it belongs.
void hint_globals(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--model" || argument.starts_with("--model=")) {
      std::cerr << "hint: the model is named without a flag, right behind the command, as in\n"
                << "      layard " << argv[1] << " laya ...\n";
      return;
    }
    for (const char* global : {"--offline", "--models", "--log-level", "--isa", "--threads"}) {
      if (argument == global || argument.starts_with(std::string(global) + "=")) {
        std::cerr << "hint: " << global << " is a global option: put it before the command, as in\n"
                  << "      layard " << global << " " << argv[1] << " ...\n";
        return;
      }
    }
  }
}

// What was printed must have arrived: a command whose output is lost has failed.
int finish(int code) {
  std::cout.flush();
  if (std::cout) return code;
  return report(
      {ErrorCode::kIo, "cannot write to standard output; what was printed is incomplete"});
}

// A standard stream that is closed would be the next file that is opened, and what is meant for
// the stream would be read from or written to that file. Closed ones become one that always fails.
void hold_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    const int failing = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", failing) != descriptor) return;  // the lowest free number is this one
  }
}

// The parser only misses a command; the first word that is none is most likely a misspelt one.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining(false);
  if (!app.get_subcommands().empty() || extra.empty()) return error.what();
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const std::string kind = extra.front().starts_with('-') ? "option" : "command";
  return "unknown " + kind + " '" + extra.front() + "'; the commands are " + names;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return finish(app.exit(error, std::cout, std::cerr));  // --help, --version
  }
  std::cerr << "error: InvalidRequestError: " << shown(usage_text(app, error)) << "\n";
  hint_globals(argc, argv);
  const auto chosen = app.get_subcommands();
  std::cerr << "See: layard " << (chosen.empty() ? "" : chosen[0]->get_name() + " ") << "--help\n";
  return kExitError;
}

int main(int argc, char** argv) {
  // A closed pipe and a file over the limit of `ulimit -f` are failed writes, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  hold_standard_streams();
  CLI::App app(kAbout, "layard");
  Globals globals;
  Run run;
  add_globals(app, globals);
  add_predict(app, globals, run);
  add_render(app, globals, run);
  add_tokenize(app, globals, run);
  add_info(app, globals, run);
  add_download(app, globals, run);
  add_benchmark(app, globals, run);
  add_cache(app, globals, run);
  add_parity(app, globals, run);
  add_completion(app, run);
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("layard"));
  spdlog::set_pattern("%^%l%$: %v");
  spdlog::set_level(spdlog::level::from_str(globals.log_level));
  try {
    return finish(run());
  } catch (const std::bad_alloc&) {
    return report({ErrorCode::kInternal, "out of memory"});
  } catch (const std::exception& error) {
    return report({ErrorCode::kInternal, error.what()});
  }
}

}  // namespace
}  // namespace layard::cli

int main(int argc, char** argv) { return layard::cli::main(argc, argv); }
