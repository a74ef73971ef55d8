#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

#include "commands.h"
#include "layard/router.h"
#include "layard/tokenizer.h"
#include "server/server.h"
#include "table.h"

namespace layard::cli {
namespace {

using base::GivenSettings;
using base::SettingInfo;
using base::SettingKind;
using server::DecisionServer;
using server::ServeOptions;

struct Options {
  GivenSettings given;
  std::string log_level;
  bool check = false;
};

// SIGTERM and SIGINT, taken by a thread of their own. The first stops the server, the second cuts
// what is still running; who is not gone some time after that is ended.
class SignalWatch {
 public:
  /// Threads that are made later leave the signals to the watch.
  SignalWatch() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  void set_server(DecisionServer* server) {
    const std::lock_guard lock(mutex_);
    server_ = server;
  }

 private:
  static constexpr std::chrono::seconds kLastWait{3};

  void watch(const std::stop_token& stop) {
    std::optional<std::chrono::steady_clock::time_point> end;
    int taken = 0;
    while (!stop.stop_requested()) {
      const timespec wait{0, 100'000'000};
      const int signal = sigtimedwait(&signals_, nullptr, &wait);
      if (end.has_value() && std::chrono::steady_clock::now() > *end) std::_Exit(128 + taken);
      if (signal < 0) continue;
      if (taken != 0) end = std::chrono::steady_clock::now() + kLastWait;
      taken = signal;
      const std::lock_guard lock(mutex_);
      if (server_ == nullptr) std::_Exit(128 + signal);  // it was still loading
      server_->stop();
    }
  }

  sigset_t signals_{};
  std::mutex mutex_;
  DecisionServer* server_ = nullptr;  // guarded by mutex_
  std::jthread thread_;               // last: it uses what is above
};

void write_line(std::string_view level, std::string_view line) {
  spdlog::log(spdlog::level::from_str(std::string(level)), "{}", printable(line));
}

void set_log(const ServeOptions& options, const std::string& level) {
  const bool json = options.log_format == base::LogFormat::kJson;
  spdlog::set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                           : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$: %v",
                      spdlog::pattern_time_type::utc);
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::flush_on(spdlog::level::debug);
}

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
  set_log(*serve, level);
  SignalWatch signals;
  auto started = DecisionServer::start(*serve, level, write_line);
  if (!started.ok()) return report(started.error());
  DecisionServer& server = **started;
  signals.set_server(&server);
  // A program that started this one learns here where to ask, and that it may.
  std::cout << "{\"listening\": \"" << server.url() << "\"}" << std::endl;
  server.wait();
  signals.set_server(nullptr);
  return kExitOk;
}

std::string type_name(const SettingInfo& info) {
  switch (info.kind) {
    case SettingKind::kWords:
      return "TEXT:{" + std::string(info.type_name) + "}";
    case SettingKind::kModel:
    case SettingKind::kModels:
      return info.type_name == kModelOrAutoType ? kModelOrAutoType : kModelType;
    case SettingKind::kFile:
      return kFileType;
    default:
      return std::string(info.type_name);
  }
}

void add_setting(CLI::App& command, const SettingInfo& info, GivenSettings& given) {
  const std::string name(info.name);
  const std::string flag = base::flag_name(name);
  std::string help(info.help);
  if (!info.fallback.empty()) help += " (default: " + std::string(info.fallback) + ")";
  if (info.kind == SettingKind::kSwitch) {
    command.add_flag_callback(
        flag, [&given, name] { given[name] = {"true"}; }, help);
    return;
  }
  CLI::Option* option = command.add_option_function<std::vector<std::string>>(
      flag, [&given, name](const std::vector<std::string>& values) { given[name] = values; }, help);
  option->type_name(type_name(info));
  if (info.kind != SettingKind::kModels) option->expected(1);
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
  for (const SettingInfo& info : server::setting_table()) {
    add_setting(*command, info, options->given);
  }
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
