#include "gateway/gateway_server.h"

#include <mutex>
#include <utility>

#include "base/clock.h"
#include "gateway/child_devices.h"
#include "gateway/class_source.h"
#include "gateway/decision_log.h"
#include "gateway/device_prober.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_handler.h"
#include "gateway/gateway_setup.h"
#include "layard/service.h"

namespace layard::gateway {
namespace {

using base::JsonValue;
using base::LogLevel;

LogLevel level_of(std::string_view name) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning}) {
    if (name == base::log_level_name(level)) return level;
  }
  return LogLevel::kError;
}

// Beyond the children's own stop_ms they are killed.
constexpr std::int64_t kChildrenStopMs = 15'000;

// What stands between `//` and `:` of a URL.
std::string url_host(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

struct GatewayServer::Impl {
  Impl(const GatewayOptions& o, std::string_view log_level, LogFunction write)
      : options(o),
        log(options.log_format, level_of(log_level),
            log_level == "off" ? nullptr : std::move(write)) {}

  Status start();
  Status load_model(const RoutePolicy& policy);
  Result<GatewaySetupPtr> read_setup();
  std::string reload();

  GatewayOptions options;
  base::EventLog log;
  const base::ProcessEnv env;
  std::mutex reloading;
  // Each of these uses those above it until it is destroyed.
  std::unique_ptr<DecisionService> service;
  std::unique_ptr<ClassSource> classes;
  std::unique_ptr<DecisionLog> decisions;
  std::unique_ptr<GatewayCore> core;
  std::unique_ptr<ChildDevices> children;
  std::unique_ptr<DeviceProber> prober;
  std::unique_ptr<GatewayHandler> handler;
  std::unique_ptr<http::Server> http;
};

Result<GatewaySetupPtr> GatewayServer::Impl::read_setup() {
  LAYARD_ASSIGN(GatewaySetupPtr setup,
                make_setup({options.policy_file, options.backends, options.device, &env,
                            &base::real_filesystem()}));
  for (const std::string& warning : setup->warnings) {
    log.event(LogLevel::kWarning, "policy", {{"warning", JsonValue::string(warning)}});
  }
  return setup;
}

Status GatewayServer::Impl::load_model(const RoutePolicy& policy) {
  if (!options.laya) return {};
  options.service.model = asked_model(options.model, policy);
  options.service.checkpoints.log = [this](std::string_view level, std::string_view message) {
    log.message(level, message);
  };
  LAYARD_ASSIGN(service, DecisionService::open(options.service));
  classes = class_source_of(*service);
  return {};
}

Status GatewayServer::Impl::start() {
  LAYARD_ASSIGN(GatewaySetupPtr setup, read_setup());
  LAYARD_TRY(load_model(setup->policy));
  if (!options.decision_log.empty()) {
    LAYARD_ASSIGN(decisions, DecisionLog::open(base::real_filesystem(), options.decision_log,
                                               [this](const Error& error) {
                                                 log.event(
                                                     LogLevel::kError, "decision_log_failed",
                                                     {{"error", JsonValue::string(error.message)}});
                                               }));
  }
  core =
      std::make_unique<GatewayCore>(options, std::move(setup), classes.get(), decisions.get(), log);
  children = std::make_unique<ChildDevices>(*core, env);
  LAYARD_TRY(children->apply(*core->setup()));
  prober = std::make_unique<DeviceProber>(*core, children.get());
  handler = std::make_unique<GatewayHandler>(*core, [this] { return reload(); });
  LAYARD_ASSIGN(http, http::Server::start(options.http, *handler));
  handler->set_counters([this] { return http->counters(); });
  while (!handler->on_some_loop([this](GatewayLoop& loop) { prober->start(loop); })) {
    core->clock.sleep_ms(1, {});  // the loop's thread is just beginning
  }
  return {};
}

// One way for the start and for every reload; nothing is changed before all of it is right.
std::string GatewayServer::Impl::reload() {
  const std::lock_guard lock(reloading);
  auto setup = read_setup();
  if (!setup.ok()) {
    core->refuse_setup(setup.error().message);
    log.event(LogLevel::kError, "reload_refused",
              {{"error", JsonValue::string(setup.error().message)}});
    return setup.error().message;
  }
  const std::string hash = (*setup)->hash;
  // Classes that mean something else now are decided anew.
  const RoutePolicy& before = core->setup()->policy;
  const RoutePolicy& after = (*setup)->policy;
  if (before.classes() != after.classes() || before.instructions != after.instructions) {
    core->sticky.clear();
  }
  const GatewaySetupPtr old = core->setup();
  core->replace_setup(*std::move(setup));
  old->fleet->close();
  const Status applied = children->apply(*core->setup());
  if (!applied.ok()) {
    // The policy is right and serves; a program that cannot be started is a device that is down.
    log.event(LogLevel::kError, "child", {{"error", JsonValue::string(applied.error().message)}});
  }
  log.event(LogLevel::kInfo, "reloaded", {{"policy_hash", JsonValue::string(hash)}});
  return "";
}

GatewayServer::GatewayServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<GatewayServer>> GatewayServer::start(const GatewayOptions& options,
                                                            std::string_view log_level,
                                                            LogFunction log) {
  std::unique_ptr<GatewayServer> server(
      new GatewayServer(std::make_unique<Impl>(options, log_level, std::move(log))));
  LAYARD_TRY(server->impl_->start());
  server->impl_->log.event(
      LogLevel::kInfo, "listening",
      {{"url", JsonValue::string(server->url())},
       {"laya", JsonValue::boolean(options.laya)},
       {"policy_hash", JsonValue::string(server->impl_->core->setup()->hash)}});
  return server;
}

GatewayServer::~GatewayServer() {
  if (impl_->prober != nullptr) impl_->prober->stop();
  if (impl_->handler != nullptr) impl_->handler->set_counters(nullptr);
  // Waits end before the connections, which are cut next; then the model, whose last calls go
  // nowhere.
  if (impl_->core != nullptr) impl_->core->setup()->fleet->close();
  impl_->http.reset();
  if (impl_->core != nullptr) impl_->core->side.close();
  if (impl_->children != nullptr) impl_->children->stop_all(kChildrenStopMs);
  impl_->service.reset();
}

std::string GatewayServer::url() const {
  return "http://" + url_host(impl_->options.http.host) + ":" + std::to_string(port());
}

unsigned GatewayServer::port() const { return impl_->http->port(); }

std::string GatewayServer::reload() { return impl_->reload(); }

void GatewayServer::stop() {
  impl_->log.event(LogLevel::kInfo, "stopping", {});
  impl_->prober->stop();
  impl_->http->stop();
}

void GatewayServer::wait() {
  impl_->http->wait();
  const StatsSnapshot stats = impl_->core->stats.snapshot();
  base::EventLog::Values values;
  std::uint64_t requests = 0;
  for (const auto& [name, device] : stats.devices) requests += device.attempts;
  values.emplace_back("requests", JsonValue::integer(static_cast<std::int64_t>(requests)));
  impl_->log.event(LogLevel::kInfo, "stopped", values);
}

}  // namespace layard::gateway
