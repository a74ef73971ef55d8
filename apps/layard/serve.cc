#include <iostream>
#include <memory>

#include "commands.h"
#include "layard/router.h"
#include "layard/tokenizer.h"
#include "server/server.h"
#include "server_flags.h"
#include "server_process.h"
#include "table.h"

namespace layard::cli {
namespace {

using base::GivenSettings;
using server::DecisionServer;
using server::ServeOptions;

struct Options {
  GivenSettings given;
  std::string log_level;
  bool check = false;
};

Result<ServeOptions> serve_options(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(ServeOptions serve, server::serve_options_from_process(options.given));
  LAYARD_ASSIGN(serve.service.checkpoints.environment, environment(globals));
  serve.service.checkpoints.local_files_only = globals.offline;
  return serve;
}

// The checkpoints that are loaded before the server listens.
std::vector<std::string> loaded_at_start(const ServiceOptions& service) {
  std::vector<std::string> names;
  if (is_auto_model(service.model)) {
    names.assign(auto_checkpoints().begin(), auto_checkpoints().end());
    names.push_back(service.default_model);
  } else {
    names.push_back(service.model);
  }
  for (const std::string& name : service.preload) {
    if (!is_auto_model(name)) names.push_back(name);
  }
  return names;
}

// Prints the settings in force, and whether the server could start with them.
int check(const ServeOptions& serve) {
  std::cout << server::print_serve_options(serve) << "\n";
  int code = kExitOk;
  for (const std::string& name : loaded_at_start(serve.service)) {
    const auto& checkpoints = serve.service.checkpoints;
    // Looks at what is on this machine only: a check must not download.
    const auto found = tokenizer_path(checkpoints.environment, true, name);
    if (found.ok()) continue;
    std::cerr << "check failed: " << printable(name) << ": " << error_type_name(found.error().code)
              << ": " << printable(found.error().message) << "\n";
    code = kExitCheckFailed;
  }
  return code;
}

int run_serve(const Globals& globals, const Options& options) {
  const auto serve = serve_options(globals, options);
  if (!serve.ok()) return report(serve.error());
  if (options.check) return check(*serve);
  const std::string& level = options.log_level.empty() ? globals.log_level : options.log_level;
  set_server_log(serve->log_format, level);
  SignalWatch signals;
  auto started = DecisionServer::start(*serve, level, write_server_line);
  if (!started.ok()) return report(started.error());
  DecisionServer& server = **started;
  signals.set_stop([&server] { server.stop(); });
  // A program that started this one learns here where to ask, and that it may.
  std::cout << "{\"listening\": \"" << server.url() << "\"}" << std::endl;
  server.wait();
  signals.set_stop(nullptr);
  return kExitOk;
}

}  // namespace

void add_serve(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command =
      app.add_subcommand("serve", "Answer /v1/systemone and its like over HTTP, on this machine");
  command->footer(
      "Examples:\n"
      "  layard serve\n"
      "  layard serve --model auto --preload typed-decisions --port 8642\n"
      "  LAYARD_API_KEY=... layard serve --host 0.0.0.0 --allow-remote\n"
      "  layard serve --config serve.json --check\n\n"
      "Clients of TypeSafe's interface need TYPESAFE_BASE_URL=http://127.0.0.1:8642 and any key.\n"
      "Every option is also a variable: --port is LAYARD_SERVE_PORT; the key is LAYARD_API_KEY.\n"
      "SIGTERM and SIGINT finish what was begun; a second one cuts it.");
  auto options = std::make_shared<Options>();
  add_settings(*command, server::setting_table(), options->given);
  command
      ->add_option("--log-level", options->log_level,
                   "As before the command; info has a line "
                   "for each request")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
  command->add_flag("--check", options->check,
                    "Print the settings in force and whether its checkpoints are here; serve "
                    "nothing");
  command->callback([&globals, &run, options] {
    run = [&globals, options] { return run_serve(globals, *options); };
  });
}

}  // namespace layard::cli
