#include "gateway/gateway_handler.h"

#include <utility>

#include "base/json.h"
#include "gateway/api_error.h"
#include "gateway/forward_call.h"
#include "gateway/gateway_metrics.h"
#include "http/host_rules.h"
#include "http/target.h"

namespace layard::gateway {
namespace {

Api api_of_path(std::string_view path) {
  return path.starts_with("/v1/messages") ? Api::kMessages : Api::kChatCompletions;
}

void add_retry_after(http::Response& response, std::int64_t wait_ms) {
  response.fields.set("retry-after-ms", std::to_string(wait_ms));
  response.fields.set("Retry-After", std::to_string((wait_ms + 999) / 1000));
}

http::Response json_response(int status, std::string json) {
  http::Response response = http::make_response(status, "application/json", std::move(json));
  response.fields.add("Cache-Control", "no-store");
  response.fields.add("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace

// What was found out before the body was read; travels with the request.
struct GatewayHandler::Admitted {
  EndpointMatch match;
  std::string caller;
  RateLease lease;
};

GatewayHandler::GatewayHandler(GatewayCore& core, std::function<std::string()> reload)
    : core_(core), reload_(std::move(reload)), begun_ns_(core.clock.now_ns()) {}

void GatewayHandler::set_counters(std::function<http::Counters()> counters) {
  const std::lock_guard lock(mutex_);
  counters_ = std::move(counters);
}

std::optional<http::Response> GatewayHandler::refuse(const http::Request& request,
                                                     Admitted& admitted) {
  const Api api = api_of_path(request.path());
  if (!core_.callers.takes_host(request.fields)) {
    return api_error_response(api, 421, "", "the Host field names another server");
  }
  if (!http::is_own_origin(request.fields)) {
    return api_error_response(api, 403, "", "requests of other sites' pages are refused");
  }
  const EndpointMatch match = find_endpoint(request.method, request.path(), core_.setup()->policy);
  admitted.match = match;
  if (match.status == 405) {
    http::Response response =
        api_error_response(api, 405, "", "this path takes " + std::string(match.allow));
    response.fields.add("Allow", std::string(match.allow));
    return response;
  }
  if (match.status != 200) return api_error_response(api, 404, "", "there is no such path");
  const auto caller = core_.callers.caller_of(request.fields);
  // On loopback the machine's own users may look.
  const bool is_open =
      is_operators(match.endpoint) && http::is_loopback_host(core_.options.http.host);
  if (!caller.has_value() && needs_key(match.endpoint) && !is_open) {
    http::Response response =
        api_error_response(api, 401, "", "missing or wrong key", std::nullopt, "invalid_api_key");
    response.fields.add("WWW-Authenticate", "Bearer");
    return response;
  }
  for (const http::Field& field : request.fields.all()) {
    if (http::equal_ignoring_case(field.name, "Via") &&
        field.value.find(core_.via()) != std::string::npos) {
      return api_error_response(match.api, 508, "", "a device of this gateway sends to it again",
                                std::nullopt, "loop_detected");
    }
  }
  admitted.caller = caller.value_or("");
  if (match.endpoint != Endpoint::kForward) return std::nullopt;
  const std::string_view type = request.fields.value_or_empty("Content-Type");
  if (!http::is_media_type(type, "application/json")) {
    return api_error_response(api, 415, "", "the body must be application/json");
  }
  return std::nullopt;
}

std::optional<http::Response> GatewayHandler::refuse_rate(const EndpointMatch& match,
                                                          Admitted& admitted) {
  if (match.endpoint != Endpoint::kForward && match.endpoint != Endpoint::kPassThrough) {
    return std::nullopt;
  }
  const CallerLimits& limits = core_.options.limits;
  if (limits.per_minute == 0 && limits.requests_max == 0) return std::nullopt;
  RateAdmission rate = core_.limiter.admit(admitted.caller, limits, core_.clock.now_ns());
  if (rate.ok()) {
    admitted.lease = std::move(rate.lease);
    return std::nullopt;
  }
  const std::string why = rate.refusal == RateRefusal::kAtOnce
                              ? "too many requests of this caller at once"
                              : "too many requests of this caller in a minute";
  http::Response response =
      api_error_response(match.api, 429, "", why, std::nullopt, "rate_limit_exceeded");
  add_retry_after(response, rate.retry_after_ms);
  return response;
}

http::Admission GatewayHandler::admit(const http::Request& request) {
  auto admitted = std::make_shared<Admitted>();
  http::Admission out;
  out.refusal = refuse(request, *admitted);
  if (!out.refusal.has_value() && !core_.callers.needs_key()) {
    admitted->caller = request.peer_address;  // for limits alone
  }
  if (!out.refusal.has_value()) out.refusal = refuse_rate(admitted->match, *admitted);
  if (!core_.callers.needs_key()) admitted->caller.clear();
  if (out.refusal.has_value()) {
    out.refusal->fields.set("X-1bit-Route", route_field({}, ""));
  } else {
    out.ticket = std::move(admitted);
  }
  return out;
}

void GatewayHandler::handle(http::Request request, http::Responder responder) {
  const auto admitted = std::static_pointer_cast<Admitted>(request.ticket);
  switch (admitted->match.endpoint) {
    case Endpoint::kForward:
    case Endpoint::kPassThrough:
      forward(std::move(request), std::move(responder));
      return;
    case Endpoint::kReload:
      reload(std::move(responder));
      return;
    default:
      responder.send(page(request, admitted->match));
  }
}

void GatewayHandler::forward(http::Request request, http::Responder responder) {
  GatewayLoop* loop = loop_of(request.loop);
  if (loop == nullptr) return;  // the loop could not be prepared: 500
  const auto admitted = std::static_pointer_cast<Admitted>(request.ticket);
  ForwardStart start;
  start.setup = core_.setup();
  start.api = admitted->match.api;
  if (admitted->match.endpoint == Endpoint::kPassThrough) {
    // The policy may have been reloaded while the body came: places are of one policy.
    const EndpointMatch match = find_endpoint(request.method, request.path(), start.setup->policy);
    if (!match.device.has_value()) {
      responder.send(api_error_response(match.api, 404, "", "there is no such path"));
      return;
    }
    start.pass_to = match.device;
  }
  start.request_id = core_.next_request_id();
  start.caller = admitted->caller;
  start.lease = std::move(admitted->lease);
  start.request = std::move(request);
  start.request.ticket.reset();
  ForwardCall::start(*loop, std::move(start), std::move(responder));
}

http::Response GatewayHandler::page(const http::Request& request,
                                    const EndpointMatch& match) const {
  switch (match.endpoint) {
    case Endpoint::kModels:
      return json_response(200, models_json(core_.setup()->policy));
    case Endpoint::kHealth: {
      const PageInput input = page_input();
      return json_response(is_ready(input) ? 200 : 503, health_json(input));
    }
    case Endpoint::kReady: {
      const bool ready = is_ready(page_input());
      return json_response(ready ? 200 : 503, ready ? R"({"ready":true})" : R"({"ready":false})");
    }
    case Endpoint::kMetrics:
      return http::make_response(200, "text/plain; version=0.0.4; charset=utf-8",
                                 gateway_metrics_text(page_input()));
    case Endpoint::kStatus:
      return json_response(200, status_json(page_input()));
    case Endpoint::kPage:
      if (const PageFile* file = find_page_file(request.path())) return page_response(*file);
      [[fallthrough]];
    default:
      return api_error_response(match.api, 404, "", "there is no such path");
  }
}

// Reading the policy and stopping children may take a while: not on the connections' thread.
void GatewayHandler::reload(http::Responder responder) {
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  core_.reloads.post([this, shared] {
    const std::string error = reload_();
    base::JsonValue out = base::JsonValue::object();
    out.set("taken", base::JsonValue::boolean(error.empty()));
    out.set("policy_hash", base::JsonValue::string(core_.setup()->hash));
    out.set("error", error.empty() ? base::JsonValue::null() : base::JsonValue::string(error));
    shared->send(
        json_response(error.empty() ? 200 : 422, base::write_json(out, base::JsonStyle::kCompact)));
  });
}

PageInput GatewayHandler::page_input() const {
  PageInput input;
  input.setup = core_.setup();
  input.devices = input.setup->fleet->view(core_.clock.now_ns());
  input.stats = core_.stats.snapshot();
  input.sticky = core_.sticky.counters();
  input.conversations = core_.sticky.size();
  input.reload = core_.reload_state();
  if (core_.decisions != nullptr) input.log = core_.decisions->counters();
  input.laya = core_.classes != nullptr;
  input.model = asked_model(core_.options.model, input.setup->policy);
  input.uptime_ms = (core_.clock.now_ns() - begun_ns_) / 1'000'000;
  const std::lock_guard lock(mutex_);
  if (counters_) input.http = counters_();
  return input;
}

http::Response GatewayHandler::refusal_response(const http::Refusal& refusal,
                                                std::string_view path) {
  http::Response response =
      api_error_response(api_of_path(path), refusal.status(), "", refusal.message);
  response.fields.set("X-1bit-Route", route_field({}, ""));
  return response;
}

void GatewayHandler::loop_begins(http::SocketLoop& loop) {
  auto part = std::make_unique<GatewayLoop>(loop, core_);
  const std::lock_guard lock(mutex_);
  loops_.emplace(&loop, std::move(part));
}

void GatewayHandler::loop_ends(http::SocketLoop& loop, std::function<void()> done) {
  GatewayLoop* part = loop_of(&loop);
  if (part == nullptr) {
    done();
    return;
  }
  part->end([this, at = static_cast<const http::Loop*>(&loop), done = std::move(done)] {
    std::unique_ptr<GatewayLoop> gone;
    {
      const std::lock_guard lock(mutex_);
      const auto found = loops_.find(at);
      gone = std::move(found->second);
      loops_.erase(found);
    }
    done();
  });
}

GatewayLoop* GatewayHandler::loop_of(const http::Loop* loop) {
  const std::lock_guard lock(mutex_);
  const auto found = loops_.find(loop);
  return found == loops_.end() ? nullptr : found->second.get();
}

bool GatewayHandler::on_some_loop(std::function<void(GatewayLoop&)> call) {
  const std::lock_guard lock(mutex_);
  if (loops_.empty()) return false;
  GatewayLoop* part = loops_.begin()->second.get();
  part->loop().post([part, call = std::move(call)] { call(*part); });
  return true;
}

}  // namespace layard::gateway
