#include "server/api.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "http/target.h"
#include "server/ask_all.h"
#include "server/asked.h"
#include "server/assets.h"
#include "server/metrics.h"
#include "server/systemone.h"

namespace layard::server {
namespace {

using base::JsonValue;
using base::LogLevel;

// The page's own files, and nothing else, may run or be loaded in it.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Reading and tokenising more takes long enough to hold up other connections: about a millisecond
// here.
constexpr std::size_t kInlineBytesMax = 16 * 1024;

// The repository that clients name when they mean whatever Laya a server has.
constexpr std::string_view kAnyLaya = "convaiinnovations/laya";

// When to come again for what no queue can tell: a checkpoint that is not here, a server that
// stops.
constexpr std::int64_t kRetryAfterMs = 1000;

// Not in the table of HTTP; as other servers' logs have it.
constexpr int kClientLeft = 499;

std::string id_prefix(const base::Clock& clock) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "ly%llx-",
                static_cast<unsigned long long>(clock.now_ns()));
  return text.data();
}

JsonValue number(double value) { return JsonValue::real_text(two_decimals(value)); }

http::Response page_file(const Asset& asset) {
  http::Response response =
      http::make_response(200, content_type_of(asset.name), std::string(asset.content));
  response.fields.add("Content-Security-Policy", kPagePolicy);
  response.fields.add("X-Content-Type-Options", "nosniff");
  response.fields.add("Referrer-Policy", "no-referrer");
  response.fields.add("Cache-Control", "no-cache");
  return response;
}

bool is_post(Endpoint endpoint) { return endpoint <= Endpoint::kDecisions; }

std::string refusal_text(const http::Refusal& refusal) {
  switch (refusal.reason) {
    case http::RefusalReason::kBodySize:
      return "request body too large";
    case http::RefusalReason::kBodyTime:
      return "request body was not received in time";
    case http::RefusalReason::kUnanswered:
      return "inference failed";
    default:
      return refusal.message;
  }
}

}  // namespace

// One request on its way to its answer.
struct Api::Call {
  std::string id;
  Endpoint endpoint = Endpoint::kOther;
  std::int64_t begun_ns = 0;
  base::EventLog::Values values = {};  // of its log line, besides those of every request
};

Api::Api(Decider& decider, ApiOptions options, Access access, ServerFacts facts,
         const base::EventLog& log, const base::Clock& clock)
    : decider_(decider),
      options_(options),
      access_(std::move(access)),
      facts_(std::move(facts)),
      log_(log),
      clock_(clock),
      id_prefix_(id_prefix(clock)) {}

void Api::set_counters(std::function<http::Counters()> counters) {
  const std::lock_guard lock(counters_mutex_);
  counters_ = std::move(counters);
}

std::string Api::next_id() { return id_prefix_ + std::to_string(++last_id_); }

http::Response Api::finished(const Call& call, http::Response response) {
  const double duration_s = static_cast<double>(clock_.now_ns() - call.begun_ns) / 1e9;
  stats_.add(call.endpoint, response.status, duration_s);
  response.fields.add("x-typesafe-request-id", call.id);
  if (log_.wants(LogLevel::kInfo)) {
    base::EventLog::Values values = {
        {"id", JsonValue::string(call.id)},
        {"endpoint", JsonValue::string(std::string(endpoint_name(call.endpoint)))},
        {"status", JsonValue::integer(response.status)},
        {"duration_ms", number(duration_s * 1000)}};
    values.insert(values.end(), call.values.begin(), call.values.end());
    log_.event(LogLevel::kInfo, "request", values);
  }
  return response;
}

void Api::send(const Call& call, const Reply& reply, http::Response response) {
  if (reply.cancelled.stop_requested()) response.status = kClientLeft;  // for the counts
  reply.send(finished(call, std::move(response)));
}

void Api::fail(const Call& call, const Reply& reply, const Fault& fault) {
  send(call, reply, fault_response(fault, kRetryAfterMs));
}

std::optional<http::Response> Api::admit(const http::Request& request) {
  const RouteMatch route = find_route(request.method, request.path());
  const auto fault = fault_before_body(request, route);
  if (!fault.has_value()) return std::nullopt;
  http::Response response =
      fault_response(*fault, fault->status == 503 ? decider_.retry_after_ms() : 0);
  if (response.status == 401) response.fields.add("WWW-Authenticate", "Bearer");
  if (response.status == 405) response.fields.add("Allow", std::string(route.allow));
  return finished({next_id(), route.endpoint, request.head_done_ns}, std::move(response));
}

std::optional<Fault> Api::fault_before_body(const http::Request& request,
                                            const RouteMatch& route) const {
  if (auto fault = access_.check_host(request.fields)) return fault;
  if (auto fault = access_.check_origin(request.fields)) return fault;
  if (route.status == 404) return Fault{404, "Not Found"};
  if (route.status == 405) return Fault{405, "Method Not Allowed"};
  if (route.needs_key) {
    if (auto fault = access_.check_bearer(request.fields)) return fault;
  }
  if (!is_post(route.endpoint)) return std::nullopt;
  if (!http::is_media_type(request.fields.value_or_empty("Content-Type"), "application/json")) {
    return Fault{415, "Content-Type must be application/json"};
  }
  if (!decider_.has_room()) return Fault{503, "server busy, try again later"};
  return std::nullopt;
}

http::Response Api::refusal(const http::Refusal& refusal) {
  const Call call{next_id(),
                  Endpoint::kOther,
                  clock_.now_ns(),
                  {{"reason", JsonValue::string(std::string(refusal_name(refusal.reason)))}}};
  return finished(call, fault_response({refusal.status(), refusal_text(refusal)}, kRetryAfterMs));
}

void Api::handle(http::Request request, Reply reply) {
  const RouteMatch route = find_route(request.method, request.path());
  if (!is_post(route.endpoint)) {
    const Call call{next_id(), route.endpoint, request.head_done_ns};
    send(call, reply, page(request, route.endpoint));
    return;
  }
  if (request.body.size() <= kInlineBytesMax) {
    decide(request, route.endpoint, reply);
    return;
  }
  side_.post([this, request = std::move(request), reply = std::move(reply),
              endpoint = route.endpoint] { decide(request, endpoint, reply); });
}

// What is thrown on the way, for want of memory say, is this request's failure alone.
void Api::decide(const http::Request& request, Endpoint endpoint, const Reply& reply) {
  Call call{next_id(), endpoint, request.head_done_ns};
  const Call known = call;
  try {
    read_and_ask(std::move(call), request, reply);
  } catch (const std::exception& error) {
    fail_thrown(known, reply, error);
  }
}

void Api::fail_thrown(const Call& call, const Reply& reply, const std::exception& thrown) {
  const Error error{ErrorCode::kInternal, std::string("an exception: ") + thrown.what()};
  log_failure(call, error);
  fail(call, reply, fault_of(error, {}));
}

void Api::read_and_ask(Call call, const http::Request& request, const Reply& reply) {
  const Endpoint endpoint = call.endpoint;
  call.values = {
      {"body_bytes", JsonValue::integer(static_cast<std::int64_t>(request.body.size()))},
      {"body_wire_bytes", JsonValue::integer(static_cast<std::int64_t>(request.body_wire_bytes))}};
  const auto deadline_ms = deadline_of(request.fields);
  if (const auto* fault = std::get_if<Fault>(&deadline_ms)) {
    fail(call, reply, *fault);
    return;
  }
  auto asked =
      read_asked(endpoint, request.body, {options_.limits, options_.overflow, options_.jev_strict},
                 known_models(), call.id);
  if (const auto* fault = std::get_if<Fault>(&asked)) {
    fail(call, reply, *fault);
    return;
  }
  auto& questions = std::get<Asked>(asked);
  for (ServiceRequest& one : questions.requests) {
    one.client = access_.client_of(request);
    if (std::get<double>(deadline_ms) > 0) one.deadline_ms = std::get<double>(deadline_ms);
  }
  ask(std::move(call), reply, std::move(questions));
}

void Api::ask(Call call, Reply reply, Asked asked) {
  const Request first = asked.requests.front().request;  // names the checkpoint of a failure
  call.values.emplace_back("requests",
                           JsonValue::integer(static_cast<std::int64_t>(asked.requests.size())));
  const std::stop_token cancelled = reply.cancelled;
  ask_all(decider_, std::move(asked.requests), cancelled,
          [this, call = std::move(call), reply = std::move(reply), first,
           render = std::move(asked.render)](Result<std::vector<ServiceAnswer>> answers) mutable {
            if (!answers.ok()) {
              const Error& error = answers.error();
              const bool is_full = error.code == ErrorCode::kOverloaded;
              log_failure(call, error);
              send(call, reply,
                   fault_response(fault_of(error, failed_model(first)),
                                  is_full ? decider_.retry_after_ms() : kRetryAfterMs));
              return;
            }
            try {
              answer(call, reply, *std::move(answers), render);
            } catch (const std::exception& error) {
              fail_thrown(call, reply, error);
            }
          });
}

void Api::log_failure(const Call& call, const Error& error) const {
  const int status = error_info(error.code).http_status;
  const bool expected =
      status < 500 || error.code == ErrorCode::kOverloaded || error.code == ErrorCode::kCancelled;
  if (expected) return;
  log_.event(LogLevel::kError, "failure",
             {{"id", JsonValue::string(call.id)},
              {"type", JsonValue::string(std::string(error_type_name(error.code)))},
              {"message", JsonValue::string(error.message)}});
}

void Api::answer(Call& call, const Reply& reply, std::vector<ServiceAnswer> answers,
                 const std::function<std::string(std::vector<ServiceAnswer>)>& render) {
  double latency_ms = 0;
  std::int64_t input_tokens = 0;
  for (const ServiceAnswer& answer : answers) {
    latency_ms = std::max(latency_ms, answer.prediction.runtime.latency_ms);
    input_tokens += answer.prediction.answers.usage.input_tokens;
  }
  if (log_.wants(LogLevel::kInfo)) {
    const RuntimeInfo& info = answers.front().prediction.runtime;
    call.values.emplace_back("model", JsonValue::string(info.model));
    call.values.emplace_back("input_tokens", JsonValue::integer(input_tokens));
    call.values.emplace_back("queue_wait_ms", number(info.queue_wait_ms.value_or(0)));
    call.values.emplace_back("device_ms", number(info.device_ms.value_or(0)));
    call.values.emplace_back("cached", JsonValue::boolean(answers.front().cached));
  }
  http::Response response = json_response(200, render(std::move(answers)));
  const std::string time_ms = two_decimals(latency_ms);
  response.fields.add("Server-Timing", "inference;dur=" + time_ms);
  response.fields.add("X-Inference-Time-Ms", time_ms);
  send(call, reply, std::move(response));
}

http::Response Api::page(const http::Request& request, Endpoint endpoint) {
  const bool is_trusted = access_.is_trusted(request.fields);
  switch (endpoint) {
    case Endpoint::kModels:
      return json_response(200, models_json(facts_, decider_.models()));
    case Endpoint::kHealth:
      return json_response(200, health_json(facts_, decider_.models(), is_trusted));
    case Endpoint::kReady: {
      const bool is_ready = decider_.is_ready();
      http::Response response =
          json_response(is_ready ? 200 : 503, ready_json(decider_.models(), is_ready, is_trusted));
      if (!is_ready) add_retry_after(response, kRetryAfterMs);
      return response;
    }
    case Endpoint::kOpenApi:
      return json_response(200, openapi_json());
    case Endpoint::kMetrics: {
      std::function<http::Counters()> counters;
      {
        const std::lock_guard lock(counters_mutex_);
        counters = counters_;
      }
      return http::make_response(
          200, "text/plain; version=0.0.4; charset=utf-8",
          metrics_text({decider_.stats(), decider_.models(),
                        counters ? counters() : http::Counters(), stats_.all()}));
    }
    default:
      break;
  }
  const Asset* file = find_page_file(request.path());
  return file != nullptr ? page_file(*file) : fault_response({404, "Not Found"}, 0);
}

// `X-Layard-Deadline-Ms`: how long the client would wait in the queue.
OrFault<double> Api::deadline_of(const http::Fields& fields) const {
  const auto asked = fields.find("X-Layard-Deadline-Ms");
  if (!asked.has_value()) return options_.deadline_ms;
  std::uint32_t wanted_ms = 0;
  const auto [end, error] =
      std::from_chars(asked->data(), asked->data() + asked->size(), wanted_ms);
  if (error != std::errc() || end != asked->data() + asked->size() || wanted_ms == 0) {
    return Fault{422, "X-Layard-Deadline-Ms must be a positive number of milliseconds"};
  }
  const auto wanted = static_cast<double>(wanted_ms);
  return options_.deadline_ms > 0 ? std::min(wanted, options_.deadline_ms) : wanted;
}

FailedModel Api::failed_model(const Request& request) const {
  const auto route = decider_.route(request);
  if (!route.ok()) return {};
  // A folder's name could be a path of this machine.
  if (route->checkpoint.find('/') != std::string::npos) return {};
  return {route->checkpoint, route->repo.has_value()};
}

KnownModels Api::known_models() const {
  const auto knows = [this](std::string_view name) {
    if (name == kAnyLaya) return true;
    Request request;
    request.model = std::string(name);
    const auto route = decider_.route(request);
    return route.ok() && route->reason.starts_with("explicit ");
  };
  const auto names = [this] {
    std::vector<std::string> out;
    for (const ServedModel& model : decider_.models()) {
      if (model.name.find('/') == std::string::npos) out.push_back(model.name);
    }
    return out;
  };
  return {knows, names};
}

}  // namespace layard::server
