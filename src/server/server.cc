#include "server/server.h"

#include <utility>

#include "base/clock.h"
#include "http/host_rules.h"
#include "server/access.h"
#include "server/api.h"
#include "server/decider.h"

namespace layard::server {
namespace {

using base::JsonValue;
using base::LogLevel;

class ApiHandler final : public http::Handler {
 public:
  explicit ApiHandler(Api& api) : api_(api) {}

  http::Admission admit(const http::Request& request) override {
    http::Admission admission;
    admission.refusal = api_.admit(request);
    return admission;
  }

  void handle(http::Request request, http::Responder responder) override {
    auto shared = std::make_shared<http::Responder>(std::move(responder));
    Reply reply;
    reply.cancelled = shared->cancelled();
    reply.send = [shared](http::Response response) { shared->send(std::move(response)); };
    api_.handle(std::move(request), std::move(reply));
  }

  http::Response refusal_response(const http::Refusal& refusal, std::string_view) override {
    return api_.refusal(refusal);
  }

 private:
  Api& api_;
};

LogLevel level_of(std::string_view name) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning}) {
    if (name == base::log_level_name(level)) return level;
  }
  return LogLevel::kError;
}

// What stands between `//` and `:` of a URL.
std::string url_host(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

struct DecisionServer::Impl {
  Impl(const ServeOptions& o, std::string_view log_level, LogFunction write)
      : options(o),
        log(options.log_format, level_of(log_level), log_level == "off" ? nullptr : write) {}

  Status start();

  ServeOptions options;
  base::EventLog log;
  // Each of these uses those above it until it is destroyed.
  std::unique_ptr<DecisionService> service;
  std::unique_ptr<Decider> decider;
  std::unique_ptr<Api> api;
  std::unique_ptr<ApiHandler> handler;
  std::unique_ptr<http::Server> http;
};

Status DecisionServer::Impl::start() {
  options.service.checkpoints.log = [this](std::string_view level, std::string_view message) {
    log.message(level, message);
  };
  LAYARD_ASSIGN(service, DecisionService::open(options.service));
  decider = decider_of(*service);
  api = std::make_unique<Api>(
      *decider, options.api, Access(http::is_loopback_host(options.http.host), options.api_key),
      ServerFacts{options.service.model, options.service.checkpoints.device}, log,
      base::real_clock());
  handler = std::make_unique<ApiHandler>(*api);
  LAYARD_ASSIGN(http, http::Server::start(options.http, *handler));
  api->set_counters([this] { return http->counters(); });
  return {};
}

DecisionServer::DecisionServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<DecisionServer>> DecisionServer::start(const ServeOptions& options,
                                                              std::string_view log_level,
                                                              LogFunction log) {
  std::unique_ptr<DecisionServer> server(
      new DecisionServer(std::make_unique<Impl>(options, log_level, std::move(log))));
  LAYARD_TRY(server->impl_->start());
  server->impl_->log.event(LogLevel::kInfo, "listening",
                           {{"url", JsonValue::string(server->url())},
                            {"model", JsonValue::string(options.service.model)}});
  return server;
}

DecisionServer::~DecisionServer() {
  if (impl_->api != nullptr) impl_->api->set_counters(nullptr);
  // Connections first: they end by themselves or are cut, and their requests are cancelled. Then
  // the service, whose last calls still reach the endpoints.
  impl_->http.reset();
  if (impl_->api != nullptr) impl_->api->close();
  impl_->service.reset();
}

std::string DecisionServer::url() const {
  return "http://" + url_host(impl_->options.http.host) + ":" + std::to_string(port());
}

unsigned DecisionServer::port() const { return impl_->http->port(); }

void DecisionServer::stop() {
  impl_->log.event(LogLevel::kInfo, "stopping", {});
  impl_->http->stop();
}

void DecisionServer::wait() {
  impl_->http->wait();
  const ServiceStats stats = impl_->service->stats();
  impl_->log.event(LogLevel::kInfo, "stopped",
                   {{"completed", JsonValue::integer(static_cast<std::int64_t>(stats.completed))},
                    {"cancelled", JsonValue::integer(static_cast<std::int64_t>(stats.cancelled))}});
}

}  // namespace layard::server
