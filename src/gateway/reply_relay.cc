#include "gateway/reply_relay.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "gateway/api_error.h"
#include "gateway/forward_fields.h"

namespace layard::gateway {
namespace {

constexpr std::string_view kComment = ": keep-alive\n\n";
// Of an error in a stream's first event.
constexpr std::size_t kFirstEventBytesMax = 8 * 1024;
// Of a reply that is no stream, where one has begun.
constexpr std::size_t kLateReplyBytesMax = std::size_t{16} << 20;

std::string_view line_value(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || line.size() == name.size() || line[name.size()] != ':') return {};
  line.remove_prefix(name.size() + 1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// The data of the first event, when its empty line is there.
std::string first_data(std::string_view stream) {
  std::string data;
  bool has_data = false;
  while (!stream.empty()) {
    const auto end = stream.find_first_of("\r\n");
    if (end == std::string_view::npos) return "";
    const std::string_view line = stream.substr(0, end);
    const bool crlf = stream.substr(end).starts_with("\r\n");
    stream.remove_prefix(end + (crlf ? 2 : 1));
    if (line.empty() && has_data) return data;
    if (const auto value = line_value(line, "data"); !value.empty()) {
      if (has_data) data += '\n';
      data += value;
      has_data = true;
    }
  }
  return "";
}

// `: TEXT` of an error that a device told, or nothing.
std::string error_text(std::string_view body) {
  const auto told = base::parse_json(body, base::JsonLimits{});
  const base::JsonValue* error = told.ok() ? told->find("error") : nullptr;
  const base::JsonValue* text = error != nullptr ? error->find("message") : nullptr;
  return text != nullptr && text->is_string() ? ": " + text->text() : "";
}

int status_in(const base::JsonValue& error) {
  for (const char* name : {"code", "status"}) {
    const base::JsonValue* value = error.find(name);
    if (value == nullptr) continue;
    const auto status = value->as_int64();
    if (status.has_value() && *status >= 400 && *status <= 599) return static_cast<int>(*status);
  }
  return 502;
}

}  // namespace

std::optional<FirstError> first_error(std::string_view stream) {
  const std::string data = first_data(stream.substr(0, kFirstEventBytesMax));
  if (data.find("\"error\"") == std::string::npos) return std::nullopt;
  const auto event = base::parse_json(data, base::JsonLimits{});
  if (!event.ok() || !event->is_object()) return std::nullopt;
  const base::JsonValue* error = event->find("error");
  if (error == nullptr || !error->is_object()) return std::nullopt;
  return FirstError{status_in(*error), data};
}

// Keeps the timer from a relay that is gone.
struct ReplyRelay::Silence {
  ReplyRelay* relay = nullptr;
};

ReplyRelay::ReplyRelay(http::Loop& loop, http::Responder& responder, RelayOptions options,
                       Hooks hooks)
    : loop_(loop),
      responder_(responder),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      last_sent_ns_(loop.now_ns()) {}

ReplyRelay::~ReplyRelay() {
  if (silence_) silence_->relay = nullptr;
}

void ReplyRelay::watch_silence(std::function<http::Response()> early_head) {
  if (options_.keepalive_ms == 0 || !options_.wants_stream) return;
  early_head_ = std::move(early_head);
  silence_ = std::make_shared<Silence>(Silence{this});
  last_sent_ns_ = loop_.now_ns();
  loop_.call_after(options_.keepalive_ms, [silence = silence_] {
    if (silence->relay != nullptr) silence->relay->check_silence();
  });
}

void ReplyRelay::check_silence() {
  const std::int64_t silent_ms = (loop_.now_ns() - last_sent_ns_) / 1'000'000;
  std::int64_t wait_ms = options_.keepalive_ms - silent_ms;
  if (wait_ms <= 0) {
    wait_ms = options_.keepalive_ms;
    if (!begun_) {
      http::Response head = early_head_();
      head.fields.set("Content-Type", "text/event-stream");
      head.fields.set("Cache-Control", "no-cache");
      head.fields.set("X-Accel-Buffering", "no");
      started_early_ = true;
      start(std::move(head));
    }
    // Within an event a comment would be part of it; a reply that is no stream takes none.
    const bool fits = watch_ ? watch_->at_boundary() : started_early_;
    if (fits && !is_blocked_ && responder_.write(kComment) == http::WriteStatus::kAccepted) {
      last_sent_ns_ = loop_.now_ns();
      if (hooks_.on_keepalive) hooks_.on_keepalive();
    }
  }
  loop_.call_after(wait_ms, [silence = silence_] {
    if (silence->relay != nullptr) silence->relay->check_silence();
  });
}

void ReplyRelay::start(http::Response head) {
  begun_ = true;
  last_sent_ns_ = loop_.now_ns();
  responder_.start(std::move(head));
}

// Looks at bytes of the device as they are, before the model's name is changed.
void ReplyRelay::note(std::string_view bytes) {
  last_byte_ns_ = loop_.now_ns();
  if (!first_byte_ns_) first_byte_ns_ = last_byte_ns_;
  if (hooks_.on_bytes) hooks_.on_bytes(last_byte_ns_);
  if (!watch_) return;
  watch_->feed(bytes);
  if (!first_token_ns_ && watch_->saw_token()) first_token_ns_ = last_byte_ns_;
}

std::string ReplyRelay::rewritten(std::string_view bytes) {
  std::string out;
  if (rewriter_) {
    out.reserve(bytes.size() + 64);
    rewriter_->feed(bytes, out);
  } else {
    out = bytes;
  }
  return out;
}

http::Task<bool> ReplyRelay::send(std::string_view bytes) {
  while (true) {
    const http::WriteStatus status = responder_.write(bytes);
    if (status == http::WriteStatus::kAccepted) break;
    if (status == http::WriteStatus::kGone) co_return false;
    http::Signal writable;
    is_blocked_ = true;
    responder_.on_writable([&writable] { writable.set(); });
    co_await writable.wait();
    is_blocked_ = false;
  }
  last_sent_ns_ = loop_.now_ns();
  co_return true;
}

http::Task<RelayResult> ReplyRelay::relay(http::ClientResponse& response, http::Response head) {
  const bool is_coded =
      response.fields.find("Content-Encoding").has_value() &&
      !http::equal_ignoring_case(response.fields.value_or_empty("Content-Encoding"), "identity");
  const bool streams = is_event_stream(response.fields) && response.status < 400;
  const bool events = is_event_stream(response.fields) && !is_coded;
  watch_.reset();
  rewriter_.reset();
  if (!options_.model.empty() && !is_coded) {
    rewriter_.emplace(events ? ReplyForm::kSse : ReplyForm::kJson, options_.model);
  }
  if (is_coded && (streams || started_early_)) {
    auto result = co_await relay_coded(response, std::move(head));
    co_return result;
  }
  if (streams) {
    watch_.emplace();
    auto result = co_await relay_events(response, std::move(head));
    watch_->finish();
    usage_ = watch_->usage();
    co_return result;
  }
  auto result = co_await relay_whole(response, std::move(head));
  co_return result;
}

http::Task<RelayResult> ReplyRelay::relay_events(http::ClientResponse& response,
                                                 http::Response head) {
  const int status = head.status;
  // With the first piece, which costs no time: it tells whether the stream is an error at all.
  http::BodyRead first = co_await response.read();
  if (first.state == http::BodyRead::State::kFailed) {
    co_return RelayResult{RelayEnd::kDeviceFailed, status, std::move(first.error)};
  }
  std::string bytes(first.state == http::BodyRead::State::kData ? first.bytes : std::string_view());
  if (!begun_) {
    if (const auto error = first_error(bytes)) {
      head.status = error->status;
      head.fields.set("Content-Type", "application/json");
      head.body = error->json;
      const int sent = head.status;
      note(bytes);
      begun_ = replied_ = true;
      responder_.send(std::move(head));
      co_return RelayResult{RelayEnd::kDone, sent, {}};
    }
    start(std::move(head));
  }
  replied_ = true;
  if (first.state == http::BodyRead::State::kEnd) {
    responder_.finish();
    co_return RelayResult{RelayEnd::kDone, status, {}};
  }
  auto result = co_await pump(response, std::move(bytes), status);
  co_return result;
}

// Bytes that nobody here can read pass as they come.
http::Task<RelayResult> ReplyRelay::relay_coded(http::ClientResponse& response,
                                                http::Response head) {
  const int status = head.status;
  http::BodyRead first = co_await response.read();
  if (first.state == http::BodyRead::State::kFailed) {
    co_return RelayResult{RelayEnd::kDeviceFailed, status, std::move(first.error)};
  }
  replied_ = true;
  if (started_early_) {
    break_off(502, "the device's reply is compressed, and the stream has begun without",
              std::nullopt);
    co_return RelayResult{RelayEnd::kDone, status, {}};
  }
  start(std::move(head));
  if (first.state == http::BodyRead::State::kEnd) {
    responder_.finish();
    co_return RelayResult{RelayEnd::kDone, status, {}};
  }
  note(first.bytes);
  auto result = co_await pump(response, std::string(first.bytes), status);
  co_return result;
}

// The head of a stream is out already: a reply that is none can only be told as an event.
http::Task<void> ReplyRelay::send_as_event(int status, std::string_view json) {
  if (status >= 400) {
    break_off(status,
              "the device answered with status " + std::to_string(status) + error_text(json),
              std::nullopt);
    co_return;
  }
  std::string event;
  while (!json.empty()) {  // a line of data for each of its lines
    const std::size_t end = json.find('\n');
    event += "data: " + std::string(json.substr(0, end)) + "\n";
    json.remove_prefix(end == std::string_view::npos ? json.size() : end + 1);
  }
  event += '\n';
  co_await send(event);
  responder_.finish();
}

http::Task<RelayResult> ReplyRelay::relay_whole(http::ClientResponse& response,
                                                http::Response head) {
  const int status = head.status;
  std::string gathered;
  while (true) {
    http::BodyRead piece = co_await response.read();
    if (piece.state == http::BodyRead::State::kFailed) {
      co_return RelayResult{RelayEnd::kDeviceFailed, status, std::move(piece.error)};
    }
    if (piece.state == http::BodyRead::State::kEnd) break;
    note(piece.bytes);
    gathered += piece.bytes;
    if (gathered.size() <= kGatherBytesMax) continue;
    if (started_early_) {  // it becomes an event
      if (gathered.size() <= kLateReplyBytesMax) continue;
      replied_ = true;
      break_off(502, "the device's reply is too long for a stream that has begun", std::nullopt);
      co_return RelayResult{RelayEnd::kDone, status, {}};
    }
    start(std::move(head));
    replied_ = true;
    auto result = co_await pump(response, std::move(gathered), status);
    co_return result;
  }
  if (status < 400) usage_ = read_usage(gathered);
  std::string body = rewritten(gathered);
  replied_ = true;
  if (started_early_) {
    co_await send_as_event(status, body);
    co_return RelayResult{RelayEnd::kDone, status, {}};
  }
  head.body = std::move(body);
  begun_ = true;
  responder_.send(std::move(head));
  co_return RelayResult{RelayEnd::kDone, status, {}};
}

// The rest, piece by piece. `first` was read already, and is not noted yet.
http::Task<RelayResult> ReplyRelay::pump(http::ClientResponse& response, std::string first,
                                         int status) {
  if (watch_) note(first);
  std::string bytes = rewritten(first);
  first = {};
  while (true) {
    if (!bytes.empty()) {
      const bool sent = co_await send(bytes);
      if (!sent) co_return RelayResult{RelayEnd::kClientGone, status, {}};
    }
    http::BodyRead piece = co_await response.read();
    if (piece.state == http::BodyRead::State::kFailed) {
      co_return RelayResult{RelayEnd::kDeviceFailed, status, std::move(piece.error)};
    }
    if (piece.state == http::BodyRead::State::kEnd) break;
    note(piece.bytes);
    bytes = rewritten(piece.bytes);
  }
  responder_.finish();
  co_return RelayResult{RelayEnd::kDone, status, {}};
}

void ReplyRelay::break_off(int status, std::string_view message,
                           std::optional<std::string_view> code) {
  const bool events = watch_.has_value() || started_early_;
  if (!events) {
    responder_.cut();  // bytes of a body are missing: the client must see it
    return;
  }
  std::string event = api_error_event(options_.api, status, "", message, code);
  if (watch_ && !watch_->at_boundary()) event = "\n\n" + event;
  // A client that takes nothing must not take what it has for the whole.
  if (responder_.write(event) == http::WriteStatus::kFull) {
    responder_.cut();
  } else {
    responder_.finish();
  }
}

void ReplyRelay::fail(int status, std::string_view message, std::optional<std::string_view> code,
                      const http::Fields& fields) {
  if (begun_) {
    break_off(status, message, code);
    return;
  }
  begun_ = true;
  http::Response response =
      api_error_response(options_.api, status, "", message, std::nullopt, code);
  for (const http::Field& field : fields.all()) response.fields.set(field.name, field.value);
  responder_.send(std::move(response));
}

}  // namespace layard::gateway
