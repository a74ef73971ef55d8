// The `layard` program: parses the command line and runs one subcommand.
#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>

#include "commands.h"
#include "gateway/guard.h"
#include "hints.h"
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

// One message for one cause, although both checks of a file and both checkpoints of `auto` have it.
class SaidOnce {
 public:
  bool is_new(std::string_view message) {
    constexpr std::size_t kMessagesMax = 1000;
    const std::lock_guard lock(mutex_);
    if (said_.size() >= kMessagesMax) return true;
    constexpr std::string_view kCause = "' is not remembered: ";  // of a check, of any file
    const std::size_t cause = message.find(kCause);
    return said_.insert(std::string(cause == message.npos ? message : message.substr(cause)))
        .second;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> said_;
};

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
  if (globals.threads.has_value()) environment.threads = *globals.threads;
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
  options.log = [said = std::make_shared<SaidOnce>()](std::string_view level,
                                                      std::string_view message) {
    if (!said->is_new(message)) return;
    // It may quote a file's text or name: no line of it may steer the terminal.
    spdlog::log(spdlog::level::from_str(std::string(level)), "{}", shown(message));
  };
  return options;
}

CLI::Option* one_of(CLI::Option* option, std::initializer_list<const char*> values) {
  std::string name;
  for (const char* value : values) name += (name.empty() ? "TEXT:{" : ",") + std::string(value);
  return option->type_name(name + "}");
}

void add_model_option(CLI::App& command, std::string& model, const char* type) {
  const bool has_auto = std::string_view(type) == kModelOrAutoType;
  command
      .add_option("model", model,
                  has_auto ? "starter, a model name, a checkpoint folder, or auto: laya or "
                             "laya-multilingual by the text's language"
                           : "starter, a model name, or a checkpoint folder")
      ->type_name(type)
      ->capture_default_str();
}

void add_device_option(CLI::App& command, std::string& device) {
  one_of(command.add_option("--device", device, "Where it runs"), {"auto", "cpu", "gpu", "npu"})
      ->capture_default_str();
}

void add_calibration_option(CLI::App& command, std::string& calibration) {
  command
      .add_option("--calibration", calibration,
                  "Temperatures to use in the place of the model's own: a file of "
                  "fit-temperatures")
      ->type_name(kFileType);
}

CLI::Option* add_dtype_option(CLI::App& command, std::string& dtype, const char* about) {
  return one_of(command.add_option("--dtype", dtype, about),
                {"float32", "float16", "bfloat16", "int8", "auto"})
      ->capture_default_str();
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
  app.add_option("--log-level", globals.log_level, "What is said on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--models", globals.models_file, "JSON file of model name -> folder")
      ->type_name(kFileType);
  one_of(app.add_option("--isa", globals.isa, "Force kernels (for tests)"),
         {"scalar", "avx2", "avx512", "amx", "neon"});
  app.add_option("--threads", globals.threads,
                 "Threads of the cpu device, 1 to 1024; 0: what is allowed (default)")
      ->check(CLI::Range(0, 1024));
  app.set_version_flag("--version", std::string("layard ") + std::string(version()));
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

// Words that nothing takes, in the order they were typed; a file pattern can give very many.
std::vector<std::string> unexpected(const CLI::App& app,
                                    const std::vector<std::string>& arguments) {
  constexpr std::size_t kWordsMax = 50;
  std::vector<std::string> left = app.remaining(true);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size() && out.size() < kWordsMax && !left.empty(); ++i) {
    const auto found = std::ranges::find(left, arguments[i]);
    if (found == left.end()) continue;
    left.erase(found);
    out.push_back(arguments[i]);
  }
  return out;
}

// What the parser says of an option's values, in words that say what to do.
std::string parser_text(const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  constexpr std::string_view kTwice = ": At Most 1 required but received ";
  constexpr std::string_view kNone = ": 1 required ";
  if (const std::size_t at = text.find(kTwice); at != std::string::npos) {
    return text.substr(0, at) + " is given " + text.substr(at + kTwice.size()) +
           " times; give it once";
  }
  if (const std::size_t at = text.find(kNone); at != std::string::npos) {
    std::string type = text.substr(at + kNone.size());
    if (type.ends_with(" missing")) type.resize(type.size() - std::string_view(" missing").size());
    type.erase(0, type.find(':') + 1);  // `INT:INT in [0 - 1024]`, `TEXT:{auto,cpu}`
    return text.substr(0, at) + " needs a value: " + type;
  }
  return text;
}

// The parser only misses a command: which ones there are is said here, also inside a command. The
// first word that is none is most likely a misspelt one.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = unexpected(app, arguments);
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands()[0];
  const auto commands = at->get_subcommands({});
  if (words.empty() && dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return parser_text(error);
  }
  if (commands.empty()) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return parser_text(error);
    std::string text = "not expected here:";
    for (const std::string& word : words) text += " " + word;
    return text;
  }
  std::string names;
  for (const CLI::App* command : commands) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const std::string known =
      "; the commands" + (at == &app ? "" : " of " + at->get_name()) + " are " + names;
  if (words.empty()) return "a subcommand is needed" + known;
  const std::string kind = words.front().starts_with('-') ? "option" : "command";
  return "unknown " + kind + " '" + words.front() + "'" + known;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error,
                const std::vector<std::string>& arguments) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return finish(app.exit(error, std::cout, std::cerr));  // --help, --version
  }
  std::cerr << "error: InvalidRequestError: " << shown(usage_text(app, error, arguments)) << "\n"
            << usage_hint(app, arguments);
  std::cerr << "See: layard ";
  for (const std::string& name : help_topic(app, error, arguments)) std::cerr << name << " ";
  std::cerr << "--help\n";
  return kExitError;
}

int main(int argc, char** argv) {
  // A closed pipe and a file over the limit of `ulimit -f` are failed writes, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  hold_standard_streams();
  if (argc > 1 && argv[1] == gateway::kGuardCommand) return guard({argv + 2, argv + argc});
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
  add_serve(app, globals, run);
  add_gateway(app, globals, run);
  add_route(app, globals, run);
  add_evaluate(app, globals, run);
  add_fit_temperatures(app, globals, run);
  add_doctor(app, globals, run);
  add_completion(app, run);
  add_help(app, run);
  app.require_subcommand(1);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments[0] == "__complete") {
    return finish(complete(app, globals, {arguments.begin() + 1, arguments.end()}));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, arguments);
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
