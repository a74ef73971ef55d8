#include <iostream>
#include <memory>

#include "base/env.h"
#include "base/filesystem.h"
#include "commands.h"
#include "gateway/gateway_options.h"
#include "gateway/gateway_server.h"
#include "gateway/gateway_setup.h"
#include "layard/tokenizer.h"
#include "server_flags.h"
#include "server_process.h"
#include "table.h"

namespace layard::cli {
namespace {

using gateway::GatewayOptions;
using gateway::GatewayServer;

struct Options {
  base::GivenSettings given;
  std::string log_level;
  bool check = false;
};

Result<GatewayOptions> gateway_options(const Globals& globals, const Options& options) {
  const base::ProcessEnv env;
  LAYARD_ASSIGN(GatewayOptions out,
                gateway::read_gateway_options({options.given, &env, &base::real_filesystem()}));
  LAYARD_ASSIGN(out.service.checkpoints.environment, environment(globals));
  out.service.checkpoints.local_files_only = globals.offline;
  return out;
}

// Whether the model is on this machine. Looks here only: a check must not download.
Status check_model(const GatewayOptions& options, const gateway::RoutePolicy& policy) {
  if (!options.laya) return {};
  const std::string name = gateway::asked_model(options.model, policy);
  const auto found = tokenizer_path(options.service.checkpoints.environment, true, name);
  return found.ok() ? Status() : Status(found.error());
}

// Prints the settings in force, and whether the gateway could start with them.
int check(const GatewayOptions& options) {
  std::cout << gateway::print_gateway_options(options) << "\n";
  const base::ProcessEnv env;
  const auto setup = gateway::make_setup(
      {options.policy_file, options.backends, options.device, &env, &base::real_filesystem()});
  Status status = setup.ok() ? check_model(options, (*setup)->policy) : Status(setup.error());
  if (setup.ok()) {
    for (const std::string& warning : (*setup)->warnings) {
      std::cerr << "warning: " << printable(warning) << "\n";
    }
  }
  if (status.ok()) return kExitOk;
  std::cerr << "check failed: " << error_type_name(status.error().code) << ": "
            << printable(status.error().message) << "\n";
  return kExitCheckFailed;
}

int run_gateway(const Globals& globals, const Options& options) {
  const auto read = gateway_options(globals, options);
  if (!read.ok()) return report(read.error());
  if (options.check) return check(*read);
  const std::string& level = options.log_level.empty() ? globals.log_level : options.log_level;
  set_server_log(read->log_format, level);
  SignalWatch signals;
  auto started = GatewayServer::start(*read, level, write_server_line);
  if (!started.ok()) return report(started.error());
  GatewayServer& server = **started;
  signals.set_reload([&server] { server.reload(); });
  signals.set_stop([&server] { server.stop(); });
  // A program that started this one learns here where to ask, and that it may.
  std::cout << "{\"listening\": \"" << server.url() << "\"}" << std::endl;
  server.wait();
  signals.set_stop(nullptr);
  signals.set_reload(nullptr);
  return kExitOk;
}

}  // namespace

void add_gateway(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "gateway", "Forward OpenAI and Anthropic requests to the device that serves each kind best");
  command->footer(
      "Examples:\n"
      "  layard gateway --policy policy.yaml --laya\n"
      "  layard gateway --policy 1bit.json --laya --backend vulkan=http://127.0.0.1:9001\n"
      "  layard gateway --policy policy.yaml --check\n\n"
      "Clients of OpenAI's interface need base_url=http://127.0.0.1:8643/v1; those of Anthropic's\n"
      "base_url=http://127.0.0.1:8643. The status page is at http://127.0.0.1:8643/.\n"
      "Every option is also a variable: --port is LAYARD_GATEWAY_PORT.\n"
      "SIGHUP reads the policy anew. SIGTERM and SIGINT finish what was begun; a second one cuts "
      "it.");
  auto options = std::make_shared<Options>();
  add_settings(*command, gateway::gateway_setting_table(), options->given);
  command
      ->add_option("--log-level", options->log_level,
                   "As before the command; info has a line for each change of a device")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
  command->add_flag(
      "--check", options->check,
      "Print the settings in force and whether policy, keys and checkpoint are right; "
      "serve nothing");
  command->callback([&globals, &run, options] {
    run = [&globals, options] { return run_gateway(globals, *options); };
  });
}

}  // namespace layard::cli
