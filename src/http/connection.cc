#include "http/connection.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/wall_clock.h"
#include "http/write_some.h"

namespace layard::http {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// A body up to this size travels with its head, in one packet if it fits.
constexpr std::size_t kJoinedBodyBytesMax = 64 * 1024;

bool has_no_body(int status) { return status == 204 || status == 304 || status < 200; }

// Here and below every `co_await` stands alone in its statement: g++ 12 loses some that stand in
// the condition of a loop or an `if`.
Detached drive(Task<void> work, std::function<void()> ended) {
  co_await std::move(work);
  ended();
}

}  // namespace

Connection::Connection(ServerState& state, Loop& loop, std::unique_ptr<Stream> stream)
    : state_(state),
      loop_(loop),
      stream_(std::move(stream)),
      reader_(*stream_, [this](std::size_t bytes) { state_.counters.bytes_received += bytes; }),
      deadline_ns_(kNever) {}

void Connection::serve(std::function<void()> ended) { drive(serve_all(), std::move(ended)); }

void Connection::refuse(std::function<void()> ended) { drive(refuse_all(), std::move(ended)); }

Task<void> Connection::serve_all() {
  // Memory may run out anywhere; the other connections live on.
  try {
    bool more = true;
    while (more) more = co_await serve_one();
    co_await linger();
  } catch (...) {
    must_linger_ = false;
  }
  end_exchange(true);
  closed_ = true;
  stream_->close();
  co_await reader_.settle();
}

Task<void> Connection::refuse_all() {
  try {
    co_await refuse_and_close(RefusalReason::kConnections,
                              "the server has as many connections as it may; try again later", {});
    co_await linger();
  } catch (...) {
    must_linger_ = false;
  }
  end_exchange(true);
  closed_ = true;
  stream_->close();
  co_await reader_.settle();
}

void Connection::set_limit(std::int64_t limit_ms) {
  deadline_ns_ = loop_.now_ns() + limit_ms * 1'000'000;
}

void Connection::clear_limit() { deadline_ns_ = kNever; }

void Connection::check_time(std::int64_t now_ns) {
  if (now_ns < deadline_ns_) return;
  clear_limit();
  if (reader_.is_waiting()) {
    reader_.stop_waiting();
  } else {
    stream_->close();  // a write that makes no progress fails
  }
}

void Connection::drain() {
  if (idle_ && reader_.is_waiting()) reader_.stop_waiting();
}

void Connection::force() {
  must_linger_ = false;
  closed_ = true;
  stream_->close();
  if (const auto exchange = exchange_) exchange->leave(true);
}

void Connection::client_left() {
  const auto exchange = exchange_;
  if (exchange->left()) return;
  ++state_.counters.clients_gone;
  exchange->leave(true);
}

Task<bool> Connection::wait_for_first_byte() {
  if (!reader_.bytes().empty()) co_return true;
  if (state_.draining) co_return false;
  // A client that connects means to send; one that sent before may come back later.
  set_limit(first_request_ ? state_.options.head_ms : state_.options.idle_ms);
  idle_ = true;
  const auto fill = co_await reader_.fill();
  idle_ = false;
  if (fill == StreamReader::Fill::kStopped && !state_.draining && !closed_) {
    ++state_.counters.connections_idle_closed;
  }
  co_return fill == StreamReader::Fill::kData;
}

Task<std::optional<Connection::Arrived>> Connection::read_request_head() {
  const bool arrived_any = co_await wait_for_first_byte();
  if (!arrived_any) co_return std::nullopt;
  first_request_ = false;
  const auto received_ns = loop_.now_ns();
  set_limit(state_.options.head_ms);
  HeadScanner scanner(state_.options.head);
  auto state = scanner.scan(reader_.bytes());
  while (state == HeadScanner::State::kMore) {
    const auto fill = co_await reader_.fill();
    if (fill == StreamReader::Fill::kStopped) {
      co_await refuse_and_close(RefusalReason::kHeadTime,
                                "the header did not arrive in time; send it at once", {});
      co_return std::nullopt;
    }
    if (fill != StreamReader::Fill::kData) {
      ++state_.counters.clients_gone;
      co_return std::nullopt;
    }
    state = scanner.scan(reader_.bytes());
  }
  clear_limit();
  if (state == HeadScanner::State::kRefused) {
    const Refusal& refusal = scanner.refusal();
    co_await refuse_and_close(refusal.reason, refusal.message, {});
    co_return std::nullopt;
  }
  auto outcome =
      check_request_head(reader_.bytes().substr(scanner.begin(), scanner.end() - scanner.begin()),
                         state_.options.head);
  reader_.consume(scanner.end());
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    co_await refuse_and_close(refusal->reason, refusal->message, {});
    co_return std::nullopt;
  }
  auto& head = std::get<RequestHead>(outcome);
  Arrived arrived;
  arrived.request = std::move(head.request);
  arrived.request.peer_address = stream_->peer_address();
  arrived.request.peer_is_loopback = stream_->peer_is_loopback();
  arrived.request.loop = &loop_;
  arrived.request.received_ns = received_ns;
  arrived.request.head_done_ns = loop_.now_ns();
  arrived.framing = head.framing;
  arrived.content_length = head.content_length;
  arrived.expects_continue = head.expects_continue;
  arrived.keep_alive = head.keep_alive;
  arrived.is_head = arrived.request.method == "HEAD";
  ++state_.counters.requests;
  co_return std::move(arrived);
}

Task<bool> Connection::serve_one() {
  auto head = co_await read_request_head();
  if (!head) co_return false;
  Arrived& arrived = *head;
  Admission admission = call_admit(arrived.request);
  if (admission.refusal) {
    ++state_.counters.refused_by_handler;
    const bool more = co_await answer_unread(arrived, std::move(*admission.refusal));
    co_return more;
  }
  arrived.request.ticket = std::move(admission.ticket);
  BodyPlan plan;
  plan.framing = arrived.framing;
  plan.content_length = arrived.content_length;
  plan.bytes_max = admission.body_bytes_max.value_or(state_.options.body_bytes_max);
  std::optional<Refusal> refusal = check_announced_size(plan);
  const auto coding = content_coding(arrived.request.fields);
  if (coding) {
    plan.coding = *coding;
  } else if (arrived.framing != BodyFraming::kNone) {
    refusal = {RefusalReason::kContentEncoding,
               "Content-Encoding is neither identity, gzip nor zstd; send the body as it is"};
  }
  if (refusal) {
    state_.counters.count_refusal(refusal->reason);
    auto response = refusal_response(*refusal, arrived.request.path());
    const bool more = co_await answer_unread(arrived, std::move(response));
    co_return more;
  }
  const bool whole = co_await read_body(arrived, plan);
  if (!whole) co_return false;
  const bool more = co_await exchange_with_handler(std::move(arrived));
  co_return more;
}

Admission Connection::call_admit(const Request& request) {
  try {
    return state_.handler.admit(request);
  } catch (...) {
    Admission admission;
    admission.refusal = refusal_response(
        {RefusalReason::kUnanswered, "the server failed on this request"}, request.path());
    state_.counters.count_refusal(RefusalReason::kUnanswered);
    return admission;
  }
}

void Connection::call_handle(Request request) {
  try {
    state_.handler.handle(std::move(request), Responder(exchange_));
  } catch (...) {
    // The responder went with the call, and with it the answer became 500.
  }
}

Response Connection::refusal_response(const Refusal& refusal, std::string_view path) {
  Response response;
  try {
    response = state_.handler.refusal_response(refusal, path);
  } catch (...) {
    response = Response();
  }
  response.status = refusal.status();
  if (response.status == 503 && !response.fields.find("Retry-After")) {
    response.fields.add("Retry-After", std::to_string(state_.options.retry_after_s));
  }
  return response;
}

Task<bool> Connection::send_continue(const Arrived& arrived) {
  if (!arrived.expects_continue || arrived.framing == BodyFraming::kNone) co_return true;
  if (!reader_.bytes().empty()) co_return true;  // the client did not wait
  const bool written = co_await write_all("HTTP/1.1 100 Continue\r\n\r\n");
  co_return written;
}

Task<bool> Connection::read_body(Arrived& arrived, const BodyPlan& plan) {
  const bool invited = co_await send_continue(arrived);
  if (!invited) co_return false;
  auto share = std::make_shared<BudgetShare>(state_.budget);
  BodyDecoder decoder(plan, *share);
  set_limit(state_.options.body_ms);
  while (true) {
    std::string_view bytes = reader_.bytes();
    const auto before = bytes.size();
    const auto state = decoder.feed(bytes);
    reader_.consume(before - bytes.size());
    if (state == BodyDecoder::State::kDone) break;
    if (state == BodyDecoder::State::kRefused) {
      const Refusal& refusal = decoder.refusal();
      co_await refuse_and_close(refusal.reason, refusal.message, arrived.request.path());
      co_return false;
    }
    const auto fill = co_await reader_.fill();
    if (fill == StreamReader::Fill::kStopped) {
      co_await refuse_and_close(RefusalReason::kBodyTime,
                                "the body did not arrive in time; send it at once",
                                arrived.request.path());
      co_return false;
    }
    if (fill != StreamReader::Fill::kData) {
      ++state_.counters.clients_gone;
      co_return false;
    }
  }
  clear_limit();
  arrived.request.body_wire_bytes = decoder.wire_bytes();
  arrived.request.body = decoder.take_body();
  arrived.request.body_memory = std::move(share);
  arrived.request.body_done_ns = loop_.now_ns();
  co_return true;
}

Task<bool> Connection::exchange_with_handler(Arrived arrived) {
  exchange_ = std::make_shared<Exchange>(loop_, state_.options.stream_queue_bytes_max);
  const auto exchange = exchange_;
  ++state_.counters.requests_open;
  reader_.watch([this] { client_left(); });
  call_handle(std::move(arrived.request));
  Exchange::Batch batch = exchange->take();
  while (batch.empty() && !exchange->left()) {
    co_await exchange->wait();
    batch = exchange->take();
  }
  bool keep = false;
  if (!exchange->left()) {
    if (batch.abandoned) {
      state_.counters.count_refusal(RefusalReason::kUnanswered);
      batch.whole =
          refusal_response({RefusalReason::kUnanswered, "the server gave up on this request"}, {});
    }
    if (batch.whole) {
      reader_.unwatch();
      keep = keeps_alive(arrived, *batch.whole);
      const bool written = co_await write_response(*batch.whole, keep, arrived);
      keep = keep && written;
    } else if (batch.head) {
      keep = co_await stream_response(arrived, std::move(batch));
    }
  }
  end_exchange(false);
  co_return keep;
}

// A responder that is still somewhere must not reach for the loop any more.
void Connection::end_exchange(bool cancel) {
  reader_.unwatch();
  const auto exchange = std::exchange(exchange_, nullptr);
  if (!exchange) return;
  exchange->leave(cancel);
  --state_.counters.requests_open;
}

bool Connection::keeps_alive(const Arrived& arrived, const Response& response) const {
  return arrived.keep_alive && !response.close && !state_.draining && !closed_;
}

Task<bool> Connection::stream_response(const Arrived& arrived, Exchange::Batch batch) {
  const auto exchange = exchange_;
  const Response head = std::move(*batch.head);
  ResponseHeadOptions options;
  const bool chunked = arrived.request.version_minor == 1;
  options.framing = chunked ? ResponseFraming::kChunked : ResponseFraming::kClose;
  const bool bodiless = has_no_body(head.status);
  if (bodiless) options.framing = ResponseFraming::kNoBody;
  const bool keep = keeps_alive(arrived, head) && options.framing != ResponseFraming::kClose;
  options.close = !keep;
  options.say_keep_alive = keep && !chunked;
  const bool sends_body = !bodiless && !arrived.is_head;
  std::string out = head_bytes(head, options);
  while (true) {
    if (sends_body && options.framing == ResponseFraming::kChunked) {
      append_chunk(out, batch.bytes);
      if (batch.finished) out += kLastChunk;
    } else if (sends_body) {
      out += batch.bytes;
    }
    const bool written = co_await write_all(out);
    if (!written) {
      ++state_.counters.responses_cut;
      if (!exchange->left()) client_left();
      co_return false;
    }
    out.clear();
    exchange->written();
    if (batch.finished) co_return keep;
    if (batch.cut || exchange->left()) {
      ++state_.counters.responses_cut;
      co_return false;
    }
    batch = exchange->take();
    while (batch.empty() && !exchange->left()) {
      co_await exchange->wait();
      batch = exchange->take();
    }
  }
}

std::string Connection::head_bytes(const Response& response, const ResponseHeadOptions& options) {
  const std::string date = http_date(base::unix_time_s());
  ResponseHeadOptions dated = options;
  dated.date = date;
  auto head = write_response_head(response, dated);
  state_.counters.count_response(response.status);
  state_.counters.response_fields_dropped += head.fields_dropped;
  return std::move(head.bytes);
}

Task<bool> Connection::write_response(const Response& response, bool keep_alive,
                                      const Arrived& arrived) {
  ResponseHeadOptions options;
  if (has_no_body(response.status)) options.framing = ResponseFraming::kNoBody;
  options.close = !keep_alive;
  options.say_keep_alive = keep_alive && arrived.request.version_minor == 0;
  std::string out = head_bytes(response, options);
  const bool sends_body = options.framing == ResponseFraming::kLength && !arrived.is_head;
  const bool joined = sends_body && response.body.size() <= kJoinedBodyBytesMax;
  if (joined) out += response.body;
  bool written = co_await write_all(out);
  if (written && sends_body && !joined) {
    written = co_await write_all(response.body);
  }
  if (!written) ++state_.counters.responses_cut;
  co_return written;
}

Task<bool> Connection::answer_unread(const Arrived& arrived, Response response) {
  const bool has_body = arrived.framing != BodyFraming::kNone &&
                        !(arrived.framing == BodyFraming::kLength && arrived.content_length == 0);
  // After `Expect: 100-continue` and a refusal nobody knows whether the body follows.
  const bool discardable = arrived.framing == BodyFraming::kLength &&
                           arrived.content_length <= state_.options.discard_bytes_max &&
                           !arrived.expects_continue;
  const bool keep = keeps_alive(arrived, response) && (!has_body || discardable);
  must_linger_ = has_body;
  const bool written = co_await write_response(response, keep, arrived);
  if (!written || !keep) co_return false;
  const bool clean = co_await discard_body(has_body ? arrived.content_length : 0);
  if (clean) must_linger_ = false;
  co_return clean;
}

Task<bool> Connection::discard_body(std::uint64_t bytes) {
  set_limit(state_.options.body_ms);
  while (true) {
    const auto piece = std::min<std::uint64_t>(bytes, reader_.bytes().size());
    reader_.consume(static_cast<std::size_t>(piece));
    bytes -= piece;
    if (bytes == 0) break;
    const auto fill = co_await reader_.fill();
    if (fill != StreamReader::Fill::kData) co_return false;
  }
  clear_limit();
  co_return true;
}

Task<void> Connection::refuse_and_close(RefusalReason reason, std::string_view message,
                                        std::string_view path) {
  state_.counters.count_refusal(reason);
  must_linger_ = true;
  const Response response = refusal_response({reason, std::string(message)}, path);
  const Arrived nothing_known;
  co_await write_response(response, false, nothing_known);
}

Task<bool> Connection::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    set_limit(state_.options.write_ms);
    const IoResult result = co_await WriteSome(*stream_, bytes);
    clear_limit();
    if (result.status != IoStatus::kOk) {
      must_linger_ = false;
      co_return false;
    }
    state_.counters.bytes_sent += result.bytes;
    bytes.remove_prefix(result.bytes);
  }
  co_return true;
}

// Closing with unread bytes makes the kernel reset the connection, and the client may lose the
// response that says why.
Task<void> Connection::linger() {
  if (!must_linger_ || closed_) co_return;
  stream_->shutdown_send();
  set_limit(state_.options.linger_ms);
  auto fill = StreamReader::Fill::kData;
  while (fill == StreamReader::Fill::kData) {
    reader_.consume(reader_.bytes().size());
    fill = co_await reader_.fill();
  }
  clear_limit();
}

}  // namespace layard::http
