#include "gateway/forward_call.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/number_text.h"
#include "base/wall_clock.h"
#include "gateway/api_error.h"
#include "gateway/fleet_log.h"
#include "gateway/forward_fields.h"

namespace layard::gateway {
namespace {

using http::ClientError;
using http::ClientFault;

// Reading a larger body takes long enough to hold up other connections.
constexpr std::size_t kInlineBytesMax = 128 * 1024;
// Tokens of a prompt are estimated from its bytes, carefully: too few would send it where it fails.
constexpr std::int64_t kBytesPerToken = 3;
constexpr std::int64_t kRetryAfterMsMax = 60'000;

// Statuses that say: not here, or not now. Another device may do.
bool is_retryable(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

DeviceSign sign_of(ClientFault fault) {
  return fault == ClientFault::kHeadTimeout || fault == ClientFault::kTotalTimeout
             ? DeviceSign::kHeadTimeout
             : DeviceSign::kConnectFailed;
}

int status_of(ClientFault fault) {
  switch (fault) {
    case ClientFault::kConnectTimeout:
    case ClientFault::kHeadTimeout:
    case ClientFault::kIdleTimeout:
    case ClientFault::kTotalTimeout:
    case ClientFault::kWriteTimeout:
      return 504;
    case ClientFault::kLimit:
      return 503;
    default:
      return 502;
  }
}

std::string failure_text(const std::string& device, ClientFault fault) {
  // Without addresses: a client is not to learn where devices are.
  return "device " + device + " gave no reply (" + std::string(http::client_fault_name(fault)) +
         ")";
}

// A client's word in a log or a message: the begin of it, not within a character.
std::string shown_name(const std::string& name) {
  constexpr std::size_t kBytesMax = 256;
  if (name.size() <= kBytesMax) return name;
  std::size_t end = kBytesMax;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) --end;
  return name.substr(0, end) + "...";
}

// Seconds, or milliseconds in a field of their own; dates are passed over.
std::optional<std::int64_t> retry_after_ms(const http::Fields& fields) {
  for (const auto& [name, factor] :
       {std::pair<const char*, double>{"retry-after-ms", 1}, {"Retry-After", 1000}}) {
    const std::string_view text = fields.value_or_empty(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) continue;
    return static_cast<std::int64_t>(
        std::min(value * factor, static_cast<double>(kRetryAfterMsMax)));
  }
  return std::nullopt;
}

}  // namespace

void ForwardCall::start(GatewayLoop& loop, ForwardStart start, http::Responder responder) {
  std::unique_ptr<ForwardCall> call(new ForwardCall(loop, std::move(start), std::move(responder)));
  loop.begin_call();
  run_detached(std::move(call));
}

ForwardCall::ForwardCall(GatewayLoop& loop, ForwardStart start, http::Responder responder)
    : loop_(loop),
      core_(loop.core()),
      start_(std::move(start)),
      responder_(std::move(responder)),
      setup_(std::move(start_.setup)),
      begun_ns_(core_.clock.now_ns()) {}

http::Detached ForwardCall::run_detached(std::unique_ptr<ForwardCall> call) {
  GatewayLoop& loop = call->loop_;
  try {
    co_await call->run();
  } catch (const std::exception& error) {
    call->core_.log.event(base::LogLevel::kError, "request_failed",
                          {{"request_id", base::JsonValue::string(call->start_.request_id)},
                           {"error", base::JsonValue::string(error.what())}});
  }
  call->end_count();
  call.reset();  // a responder that was not answered answers 500
  loop.end_call();
}

double ForwardCall::since_ms(std::int64_t ns) const {
  return static_cast<double>(core_.clock.now_ns() - ns) / 1e6;
}

std::string ForwardCall::device_name() const {
  return device_.has_value() ? setup_->policy.servers[*device_].name : std::string();
}

// On every reply, streams and errors too.
http::Fields ForwardCall::route_fields() const {
  http::Fields fields;
  fields.add("X-1bit-Route", route_field(decided_.decision, device_name()));
  fields.add("X-Layard-Decision", std::string(decision_source_name(decided_.decision.source)));
  fields.add("X-Layard-Decision-Ms", base::fixed(decided_.decision.decision_ms, 3).substr(0, 8));
  fields.add("X-Layard-Request-Id", start_.request_id);
  return fields;
}

http::Task<void> ForwardCall::run() {
  core_.stats.update([](StatsSnapshot& now) { ++now.in_flight; });
  is_counted_ = true;
  RelayOptions options;
  options.api = start_.api;
  options.keepalive_ms = core_.options.keepalive_ms;
  const bool readable = co_await read();
  options.wants_stream = chat_.stream;
  if (readable && !setup_->policy.servers.empty()) options.model = chat_.model;
  ReplyRelay::Hooks hooks;
  hooks.on_keepalive = [this] { core_.stats.update([](StatsSnapshot& now) { ++now.keepalives; }); };
  hooks.on_bytes = [this](std::int64_t now_ns) {
    if (reservation_ != nullptr) reservation_->progress(now_ns);
  };
  relay_.emplace(loop_.loop(), responder_, std::move(options), std::move(hooks));
  if (!readable) {
    if (!is_gone()) refuse(last_failure_);
  } else if (find_devices()) {
    relay_->watch_silence([this] {
      http::Response head;
      head.fields = route_fields();
      return head;
    });
    co_await forward();
  } else {
    refuse(last_failure_);
  }
  co_await finish();
}

http::Task<bool> ForwardCall::read() {
  ReadOptions options;
  if (setup_->policy.size_gate.has_value()) options.scope = setup_->policy.size_gate->scope;
  options.max_chars = setup_->policy.decide.max_chars;
  std::string body = std::move(start_.request.body);
  if (start_.pass_to.has_value()) {
    body_ = std::make_shared<const RequestBody>(std::move(body), std::vector<ModelRange>(),
                                                std::move(start_.request.body_memory));
    co_return true;
  }
  Result<ChatRequest> chat = ChatRequest{};
  if (body.size() <= kInlineBytesMax) {
    chat = read_chat_request(start_.api, body, options);
  } else {
    using Read = std::pair<std::string, Result<ChatRequest>>;
    const auto arrival = std::make_shared<Arrival<Read>>(loop_.loop());
    auto moved = std::make_shared<std::string>(std::move(body));
    core_.side.post([arrival, promise = arrival->promise(), moved, options, api = start_.api] {
      auto read = read_chat_request(api, *moved, options);
      arrival->bring({std::move(*moved), std::move(read)});
    });
    const std::stop_callback leave(responder_.cancelled(), [&arrival] { arrival->cancel(); });
    auto brought = co_await arrival->wait(0);
    if (!brought.has_value()) {  // the client left, or memory ran out
      last_failure_ = {500, "the request could not be read", std::nullopt, 0};
      co_return false;
    }
    body = std::move(brought->first);
    chat = std::move(brought->second);
  }
  if (!chat.ok()) {
    last_failure_ = {400, chat.error().message, std::nullopt, 0};
    co_return false;
  }
  chat_ = *std::move(chat);
  body_ = std::make_shared<const RequestBody>(std::move(body), chat_.model_ranges,
                                              std::move(start_.request.body_memory));
  co_return true;
}

bool ForwardCall::find_devices() {
  const RoutePolicy& policy = setup_->policy;
  if (start_.pass_to.has_value()) {
    candidates_.devices = {*start_.pass_to};
    candidates_.override_device = start_.pass_to;
    return true;
  }
  RequestNeeds needs;
  needs.model = chat_.model;
  needs.tools = chat_.has_tools;
  needs.images = chat_.has_images;
  // Of a body with an image in it most bytes are no text.
  if (!chat_.has_images) {
    needs.prompt_tokens = static_cast<std::int64_t>(body_->bytes().size()) / kBytesPerToken;
  }
  candidates_ = find_candidates(policy, needs);
  if (candidates_.match == ModelMatch::kUnknown) {
    last_failure_ = {404,
                     "the model '" + shown_name(chat_.model) + "' does not exist here; there are " +
                         listed(known_models(policy)),
                     "model_not_found", 0};
    return false;
  }
  const std::string_view named = start_.request.fields.value_or_empty("X-Layard-Device");
  if (!named.empty()) {
    const auto names = setup_->device_names();
    const auto found = std::ranges::find(names, named);
    if (found == names.end()) {
      last_failure_ = {400, "X-Layard-Device: there is no such device; there are " + listed(names),
                       "device_not_found", 0};
      return false;
    }
    candidates_.override_device = static_cast<std::size_t>(found - names.begin());
  } else if (!candidates_.override_device.has_value()) {
    candidates_.override_device = setup_->forced_device;
  }
  return has_capable_device();
}

// A device that was named is tried alone, so it must be able to.
bool ForwardCall::has_capable_device() {
  const auto& able = candidates_.devices;
  const auto& named = candidates_.override_device;
  if (named.has_value() ? std::ranges::find(able, *named) != able.end() : !able.empty()) {
    return true;
  }
  std::string why;
  for (std::size_t i = 0; i < candidates_.gaps.size(); ++i) {
    if (candidates_.gaps[i] == DeviceGap::kNone || (named.has_value() && i != *named)) continue;
    why += (why.empty() ? "" : "; ") + setup_->policy.servers[i].name + " " +
           std::string(device_gap_text(candidates_.gaps[i]));
  }
  last_failure_ = {400, "no device can serve this request: " + why, "no_capable_device", 0};
  return false;
}

// A policy that is reloaded closes the queues of the one before: who waited there goes on with the
// new one, unless a device was tried already. False: there is none, or nothing there serves it.
bool ForwardCall::move_to_new_setup() {
  GatewaySetupPtr now = core_.setup();
  if (now == setup_ || tries_ > 0 || start_.pass_to.has_value()) return false;
  setup_ = std::move(now);
  candidates_ = {};
  next_ = 0;
  if (!find_devices()) return false;
  order();
  return true;
}

void ForwardCall::order() {
  const Decision& decision = decided_.decision;
  order_ = order_devices(setup_->policy, candidates_.devices, candidates_.override_device,
                         decision.class_name, decision.confidence);
}

http::Task<void> ForwardCall::forward() {
  if (candidates_.override_device.has_value()) {
    const bool by_client = candidates_.override_device != setup_->forced_device;
    decided_.decision.source = by_client ? DecisionSource::kOverride : DecisionSource::kDefault;
  } else {
    decided_ =
        co_await decide(loop_.loop(), core_,
                        {setup_, chat_, start_.request.fields, start_.caller, candidates_.devices},
                        responder_.cancelled());
    if (!decided_.error.empty()) {
      core_.log.event(base::LogLevel::kWarning, "decision_failed",
                      {{"request_id", base::JsonValue::string(start_.request_id)},
                       {"error", base::JsonValue::string(decided_.error)}});
    }
  }
  order();
  last_failure_ = {503, "no device can be chosen", "no_device", 1000};
  while (!is_gone()) {
    std::optional<Reservation> reservation = co_await reserve();
    if (!reservation.has_value()) break;
    const Try end = co_await try_device(*std::move(reservation));
    if (end == Try::kOver) co_return;
    core_.stats.update([](StatsSnapshot& now) { ++now.retries; });
  }
  if (!is_gone()) refuse(last_failure_);
}

http::Task<std::optional<Reservation>> ForwardCall::reserve() {
  std::optional<Reservation> none;
  while (next_ < order_.devices.size() && !is_gone()) {
    const auto arrival = std::make_shared<Arrival<std::shared_ptr<QueueTurn>>>(loop_.loop());
    FleetRequest request;
    request.class_name = decided_.decision.class_name;
    request.deadline_ns = core_.clock.now_ns() + core_.options.queue_ms * 1'000'000;
    request.on_turn = [arrival](QueueTurn turn) {
      arrival->bring(std::make_shared<QueueTurn>(std::move(turn)));
    };
    const std::span<const std::size_t> rest(
        order_.devices.begin() + static_cast<std::ptrdiff_t>(next_), order_.devices.end());
    FleetChoice choice =
        setup_->fleet->choose_and_reserve(rest, std::move(request), core_.clock.now_ns());
    log_changes(choice.changes);
    if (choice.first_miss != FirstMiss::kNone && next_ == 0) overflow_ = true;
    if (choice.kind == FleetChoice::Kind::kReserved) {
      none.emplace(std::move(choice.reservation));
      co_return none;
    }
    if (choice.kind != FleetChoice::Kind::kQueued) {
      if (move_to_new_setup()) continue;
      const bool busy = choice.kind == FleetChoice::Kind::kAllBusy;
      if (tries_ == 0) {
        last_failure_ = {
            503,
            busy ? "all devices are busy; try again later" : "no device is up; try again later",
            busy ? "devices_busy" : "no_device", choice.retry_after_ms};
      }
      break;
    }
    const std::int64_t waits_from_ns = core_.clock.now_ns();
    const std::stop_callback leave(responder_.cancelled(), [&arrival] { arrival->cancel(); });
    const auto turn = co_await arrival->wait(0);
    wait_ms_ += since_ms(waits_from_ns);
    if (!turn.has_value()) break;
    if ((*turn)->kind == QueueTurn::Kind::kGranted) {
      none.emplace(std::move((*turn)->reservation));
      co_return none;
    }
    if ((*turn)->kind == QueueTurn::Kind::kDeviceLost) continue;
    if ((*turn)->kind == QueueTurn::Kind::kClosed && move_to_new_setup()) continue;
    last_failure_ = {503, "all devices are busy; try again later", "devices_busy", 1000};
    break;
  }
  co_return none;
}

bool ForwardCall::has_next() const {
  return setup_->policy.alternates_on_error && next_ < order_.devices.size();
}

http::ClientRequest ForwardCall::upstream_request(std::size_t device) {
  const PolicyDevice& server = setup_->policy.servers[device];
  const bool renames = !server.model.empty() && !chat_.model.empty() && server.model != chat_.model;
  http::ClientRequest out;
  out.method = start_.request.method;
  out.target = start_.request.target;
  UpstreamHeaders add;
  add.device_key = setup_->links[device].api_key;
  add.anthropic = start_.api == Api::kMessages || start_.api == Api::kCountTokens;
  add.rewrites_body = renames;
  add.random = core_.random_bytes();
  out.fields = upstream_fields(start_.request.fields, add);
  out.fields.add("Via", core_.via());
  RequestBody::put(body_, renames ? server.model : std::string(), out);
  out.cancel = responder_.cancelled();
  return out;
}

http::Task<ForwardCall::Try> ForwardCall::try_device(Reservation reservation) {
  device_ = reservation.device();
  const auto place = std::ranges::find(order_.devices, *device_);
  next_ = static_cast<std::size_t>(place - order_.devices.begin()) + 1;
  // Those before it were full or down: they are not tried after it.
  ++tries_;
  const DeviceLink& link = setup_->links[*device_];
  core_.stats.update([&](StatsSnapshot& now) {
    ++now.devices[device_name()].attempts;
    if (tries_ == 1) now.added.add(since_ms(begun_ns_) / 1000);
  });
  auto client = loop_.client(link);
  if (!client.ok()) {
    const ClientError error{ClientFault::kTls, client.error().message, false};
    co_return take_failure(reservation, error);
  }
  sent_ns_ = core_.clock.now_ns();
  http::ClientResult result = co_await (*client)->send(link.upstream, upstream_request(*device_));
  const auto* ended = std::get_if<ClientError>(&result);
  if (ended != nullptr && ended->kept_connection_ended && !is_gone()) {
    // Servers close connections that they kept whenever they like, also as a request arrives on
    // one: that is no failure of the device, which has most likely not seen the request.
    http::ClientRequest again = upstream_request(*device_);
    again.fresh_connection = true;
    http::ClientResult second = co_await (*client)->send(link.upstream, std::move(again));
    result = std::move(second);
  }
  if (const auto* error = std::get_if<ClientError>(&result)) {
    co_return take_failure(reservation, *error);
  }
  const Try end = co_await take_reply(reservation, std::get<http::ClientResponse>(result));
  co_return end;
}

ForwardCall::Try ForwardCall::take_failure(Reservation& reservation, const ClientError& error) {
  if (error.fault == ClientFault::kCancelled || is_gone()) {
    release(reservation, RequestEnd::kClientGone, 0, DeviceSign::kConnectFailed, std::nullopt);
    return Try::kOver;
  }
  core_.log.event(base::LogLevel::kWarning, "device_failed",
                  {{"request_id", base::JsonValue::string(start_.request_id)},
                   {"device", base::JsonValue::string(device_name())},
                   {"error", base::JsonValue::string(error.message)}});
  last_failure_ = {status_of(error.fault), failure_text(device_name(), error.fault),
                   std::string(http::client_fault_name(error.fault)), 1000};
  release(reservation, RequestEnd::kFailedBeforeFirstByte, 0, sign_of(error.fault), std::nullopt);
  core_.stats.update([&](StatsSnapshot& now) { ++now.devices[device_name()].failures; });
  if (has_next()) return Try::kNext;
  refuse(last_failure_);
  return Try::kOver;
}

http::Response ForwardCall::reply_head(const http::ClientResponse& response) const {
  http::Response head;
  head.status = response.status;
  head.fields = downstream_fields(response.fields);
  const http::Fields route = route_fields();
  for (const http::Field& field : route.all()) head.fields.set(field.name, field.value);
  return head;
}

http::Task<ForwardCall::Try> ForwardCall::take_reply(Reservation& reservation,
                                                     http::ClientResponse& response) {
  core_.stats.update(
      [&](StatsSnapshot& now) { ++now.devices[device_name()].by_status[response.status]; });
  log_changes(reservation.first_byte(response.status, core_.clock.now_ns()));
  const auto asked = is_retryable(response.status) ? retry_after_ms(response.fields) : std::nullopt;
  if (response.status >= 300 && response.status < 400) {
    const ClientError error{ClientFault::kBadResponse,
                            "the device answered with a redirect, which is not followed", true};
    co_return take_failure(reservation, error);
  }
  if (is_retryable(response.status) && has_next() && !relay_->replied()) {
    last_failure_ = {
        response.status,
        "device " + device_name() + " answered with status " + std::to_string(response.status),
        std::nullopt, asked.value_or(1000)};
    core_.stats.update([&](StatsSnapshot& now) { ++now.devices[device_name()].failures; });
    release(reservation, RequestEnd::kFailedBeforeFirstByte, response.status,
            DeviceSign::kServerError, asked);
    co_return Try::kNext;
  }
  replied_ = true;
  reservation_ = &reservation;
  const RelayResult result = co_await relay_->relay(response, reply_head(response));
  reservation_ = nullptr;
  status_ = result.status;
  if (result.end == RelayEnd::kDone) {
    release(reservation, RequestEnd::kOk, response.status, DeviceSign::kServed, asked);
    co_return Try::kOver;
  }
  if (result.end == RelayEnd::kClientGone || is_gone()) {
    release(reservation, RequestEnd::kClientGone, response.status, DeviceSign::kServed, asked);
    co_return Try::kOver;
  }
  if (!relay_->replied()) co_return take_failure(reservation, result.error);
  core_.log.event(base::LogLevel::kWarning, "reply_cut",
                  {{"request_id", base::JsonValue::string(start_.request_id)},
                   {"device", base::JsonValue::string(device_name())},
                   {"error", base::JsonValue::string(result.error.message)}});
  core_.stats.update([&](StatsSnapshot& now) { ++now.devices[device_name()].cut; });
  release(reservation, RequestEnd::kFailedAfter, response.status, DeviceSign::kConnectFailed,
          asked);
  relay_->fail(status_of(result.error.fault),
               "device " + device_name() + " broke off its reply (" +
                   std::string(http::client_fault_name(result.error.fault)) + ")",
               "reply_cut", {});
  co_return Try::kOver;
}

void ForwardCall::release(Reservation& reservation, RequestEnd end, int status, DeviceSign fault,
                          std::optional<std::int64_t> retry_after_ms) {
  RequestOutcome outcome;
  outcome.end = end;
  outcome.status = status;
  outcome.fault = fault;
  outcome.retry_after_ms = retry_after_ms;
  outcome.total_ms = since_ms(sent_ns_);
  outcome.first_byte_ms = outcome.total_ms;
  if (relay_->first_byte_ns()) {
    outcome.first_byte_ms = static_cast<double>(*relay_->first_byte_ns() - sent_ns_) / 1e6;
  }
  log_changes(reservation.release(outcome, core_.clock.now_ns()));
}

void ForwardCall::log_changes(const FleetChanges& changes) const {
  log_fleet_changes(core_.log, setup_->policy, changes);
}

void ForwardCall::refuse(const Refused& refused) {
  status_ = refused.status;
  http::Fields fields = route_fields();
  if (refused.status == 429 || refused.status == 503) {
    const std::int64_t wait_ms = std::max<std::int64_t>(refused.retry_after_ms, 1);
    fields.set("retry-after-ms", std::to_string(wait_ms));
    fields.set("Retry-After", std::to_string((wait_ms + 999) / 1000));
  }
  std::optional<std::string_view> code;
  if (refused.code.has_value()) code = *refused.code;
  relay_->fail(refused.status, refused.message, code, fields);
}

ServedRequest ForwardCall::served() const {
  ServedRequest out;
  out.device = device_name();
  out.status = status_;
  out.total_ms = since_ms(begun_ns_);
  out.wait_ms = wait_ms_;
  out.cancelled = is_gone();
  out.overflow = overflow_;
  const auto first = relay_->first_token_ns() ? relay_->first_token_ns() : relay_->first_byte_ns();
  if (first) out.ttft_ms = static_cast<double>(*first - begun_ns_) / 1e6;
  const TokenUsage& usage = relay_->usage();
  out.prompt_tokens = usage.prompt_tokens.value_or(-1);
  out.cached_tokens = usage.cached_tokens.value_or(-1);
  out.completion_tokens = usage.completion_tokens.value_or(-1);
  const double decode_ms = first ? static_cast<double>(relay_->last_byte_ns() - *first) / 1e6 : 0.0;
  if (usage.predicted_per_second) {
    out.decode_tps = *usage.predicted_per_second;
  } else if (relay_->is_events() && out.completion_tokens > 1 && decode_ms > 0) {
    out.decode_tps = static_cast<double>(out.completion_tokens - 1) / (decode_ms / 1000);
  }
  return out;
}

void ForwardCall::end_count() {
  if (!std::exchange(is_counted_, false)) return;
  core_.stats.update([](StatsSnapshot& now) { --now.in_flight; });
}

void ForwardCall::count(bool is_new) {
  const ServedRequest end = served();
  const Decision& decision = decided_.decision;
  end_count();
  core_.stats.update([&](StatsSnapshot& now) {
    if (end.status != 0) ++now.replies[static_cast<std::size_t>(start_.api)][end.status];
    ++now.decisions[static_cast<std::size_t>(decision.source)];
    if (is_new && !decision.class_name.empty()) ++now.classes[decision.class_name];
    if (end.cancelled) ++now.clients_gone;
    if (overflow_) ++now.overflows;
    // A reply of the gateway's own is none of the device's.
    if (!device_.has_value() || !replied_) return;
    DeviceStats& device = now.devices[end.device];
    device.prompt_tokens +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, end.prompt_tokens));
    device.completion_tokens +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, end.completion_tokens));
    if (end.ttft_ms >= 0) device.first_byte.add(end.ttft_ms / 1000);
    device.total.add(end.total_ms / 1000);
  });
}

void ForwardCall::write_decision(const Decided& decided) {
  core_.stats.add_recent({base::unix_time_ms(), decided.decision.class_name,
                          decided.decision.confidence, device_name(), decided.decision.source,
                          decided.decision.decision_ms, status_});
  if (core_.decisions == nullptr) return;
  DecisionRecord record;
  record.time_ms = base::unix_time_ms();
  record.request_id = start_.request_id;
  if (decided.conversation.has_value()) record.conversation = decided.conversation->hex();
  record.caller = start_.caller;
  record.api = std::string(api_name(start_.api));
  record.model_requested = shown_name(chat_.model);
  if (device_.has_value()) {
    const std::string& model = setup_->policy.servers[*device_].model;
    record.model_sent = shown_name(model.empty() ? chat_.model : model);
    record.model_reported = relay_->model_reported();
  }
  if (core_.classes != nullptr) {
    record.checkpoint = asked_model(core_.options.model, setup_->policy);
  }
  record.policy_hash = setup_->hash;
  for (const std::size_t place : candidates_.devices) {
    record.candidates.push_back(setup_->policy.servers[place].name);
  }
  record.chars = static_cast<std::int64_t>(chat_.text_chars);
  record.tokens = decided.tokens;
  if (core_.options.log_text) record.text = chat_.text;
  record.decision = decided.decision;
  record.served = served();
  core_.decisions->write(decision_line(record));
}

http::Task<void> ForwardCall::finish() {
  // The reply is out: in the shadow nobody waits for the model.
  const bool in_shadow = core_.classes != nullptr && !candidates_.override_device.has_value() &&
                         setup_->policy.decide.when == DecideWhen::kShadow && !chat_.text.empty() &&
                         !candidates_.devices.empty();
  count(decided_.is_new);
  // Turns of a conversation that was decided before are no decisions; all others are.
  if (decided_.decision.source != DecisionSource::kSticky) write_decision(decided_);
  if (!in_shadow) co_return;
  // The request is over, and holds nothing any more that others wait for.
  start_.lease.end();
  body_.reset();
  const Decided found = co_await decide_in_shadow(
      loop_.loop(), core_,
      {setup_, chat_, start_.request.fields, start_.caller, candidates_.devices}, loop_.ending());
  if (found.is_new) write_decision(found);
}

}  // namespace layard::gateway
