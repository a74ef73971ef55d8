#include "http/client_exchange.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "http/response_head.h"

namespace layard::http {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// A body up to this size travels with its head, in one packet if it fits.
constexpr std::size_t kJoinedBodyBytesMax = 64 * 1024;

ClientFault fault_of(DialFault fault) {
  switch (fault) {
    case DialFault::kUnresolved:
      return ClientFault::kUnresolved;
    case DialFault::kRefused:
      return ClientFault::kRefused;
    case DialFault::kTimeout:
      return ClientFault::kConnectTimeout;
    case DialFault::kTls:
      return ClientFault::kTls;
    case DialFault::kNone:
    case DialFault::kUnreachable:
      break;
  }
  return ClientFault::kUnreachable;
}

std::string_view text_of(ClientFault fault) {
  switch (fault) {
    case ClientFault::kConnectTimeout:
      return "no connection in time";
    case ClientFault::kWriteTimeout:
      return "it takes no more of the request";
    case ClientFault::kHeadTimeout:
      return "no complete response header in time";
    case ClientFault::kIdleTimeout:
      return "no more of the response's body in time";
    case ClientFault::kTotalTimeout:
      return "the exchange took longer than it may";
    case ClientFault::kBodySource:
      return "the request's body could not be read to its end";
    default:
      return "the request was cancelled";
  }
}

}  // namespace

ClientExchange::ClientExchange(std::shared_ptr<ClientState> state, Upstream upstream,
                               ClientRequest request)
    : state_(std::move(state)),
      upstream_(std::move(upstream)),
      request_(std::move(request)),
      origin_(upstream_.origin()),
      read_deadline_ns_(kNever),
      write_deadline_ns_(kNever),
      total_deadline_ns_(kNever),
      decoder_(ResponseBody::kNone, 0, 0) {}

std::int64_t ClientExchange::after_ms(std::int64_t wait_ms) const {
  return state_->loop.now_ns() + wait_ms * 1'000'000;
}

ClientError ClientExchange::error(ClientFault fault, std::string_view what) const {
  ClientError result;
  result.fault = fault;
  result.message = origin_ + ": " + std::string(what);
  result.request_sent =
      any_written_ || (connection_ && connection_->bytes_written() > written_before_);
  return result;
}

ClientError ClientExchange::stopped_error() const { return error(*stopped_, text_of(*stopped_)); }

void ClientExchange::begin_watching() {
  if (state_->options.total_ms > 0) total_deadline_ns_ = after_ms(state_->options.total_ms);
  watched_ = true;
  state_->enter(shared_from_this());
  if (!request_.cancel.stop_possible()) return;
  // On whatever thread asks for the stop, or here and now when it was asked for before.
  on_cancel_.emplace(request_.cancel, [&loop = state_->loop, weak = weak_from_this()] {
    loop.post([weak] {
      if (const auto self = weak.lock()) self->cancel();
    });
  });
  if (request_.cancel.stop_requested()) stopped_ = ClientFault::kCancelled;
}

void ClientExchange::cancel() { stop(ClientFault::kCancelled); }

void ClientExchange::check_time(std::int64_t now_ns) {
  if (now_ns >= total_deadline_ns_) {
    stop(ClientFault::kTotalTimeout);
  } else if (now_ns >= write_deadline_ns_) {
    stop(ClientFault::kWriteTimeout);
  } else if (now_ns >= read_deadline_ns_) {
    stop(read_fault_);
  }
}

// What waits on the connection or for it wakes up and finds stopped_.
void ClientExchange::stop(ClientFault fault) {
  if (ended_ || stopped_) return;
  const auto self = shared_from_this();
  stopped_ = fault;
  if (dialling_) {
    dialling_.reset();
    dialled_.set();
    return;
  }
  if (!connection_) return;
  connection_->close();
  // Nobody reads: the end need not wait for somebody who does.
  if (!connection_->reader().is_waiting()) end(false);
}

void ClientExchange::end(bool reusable) {
  if (std::exchange(ended_, true)) return;
  const auto self = shared_from_this();
  on_cancel_.reset();
  if (std::exchange(watched_, false)) state_->leave(*this);
  read_deadline_ns_ = write_deadline_ns_ = total_deadline_ns_ = kNever;
  if (!connection_) return;
  const auto connection = connection_;  // the member stays for error()
  if (reusable && !stopped_ && connection->reader().bytes().empty()) {
    state_->keep(connection);
  } else {
    connection->retire();
  }
}

void ClientExchange::abandon() {
  if (ended_) return;
  if (!stopped_) stopped_ = ClientFault::kCancelled;
  end(false);
}

Task<ClientResult> ClientExchange::run() {
  const auto self = shared_from_this();
  auto head = write_request_head(request_, upstream_, state_->options);
  if (auto* bad = std::get_if<ClientError>(&head)) {
    bad->message = origin_ + ": " + bad->message;
    co_return std::move(*bad);
  }
  if (state_->shut()) co_return error(ClientFault::kCancelled, "the client was shut down");
  begin_watching();
  auto received = co_await head_over_connections(std::get<RequestHeadBytes>(head));
  if (auto* bad = std::get_if<ClientError>(&received)) {
    end(false);
    co_return std::move(*bad);
  }
  auto& got = std::get<ReceivedHead>(received);
  decoder_ = PieceDecoder(got.body, got.content_length, state_->options.body_bytes_max);
  keep_alive_ = got.keep_alive;
  const bool has_body = got.body != ResponseBody::kNone;
  if (!has_body) last_read_ = body_ended();
  co_return ClientResponse(got.status, std::move(got.fields), has_body, self);
}

Task<ClientExchange::HeadResult> ClientExchange::head_over_connections(
    const RequestHeadBytes& head) {
  bool may_be_kept = !request_.fresh_connection;
  while (true) {
    auto bad = co_await connect(may_be_kept);
    if (bad) co_return std::move(*bad);
    write_request(shared_from_this(), head);
    auto received = co_await read_head();
    const auto* const failed = std::get_if<ClientError>(&received);
    if (failed != nullptr && !may_repeat(*failed)) {
      ClientError ended = *failed;
      ended.kept_connection_ended =
          ended.fault == ClientFault::kConnectionLost && from_kept_ && !any_read_;
      co_return ended;
    }
    if (failed == nullptr) co_return received;
    // Before the connection is let go of: what the writer still looks at is of this exchange.
    connection_->close();
    co_await writer_ended();
    if (stopped_) co_return stopped_error();
    read_deadline_ns_ = kNever;
    any_written_ = any_written_ || connection_->bytes_written() > written_before_;
    std::exchange(connection_, nullptr)->retire();
    may_be_kept = false;
  }
}

bool ClientExchange::may_repeat(const ClientError& error) const {
  if (error.fault != ClientFault::kConnectionLost || !from_kept_ || any_read_) return false;
  return connection_->bytes_written() == written_before_ || is_repeatable(request_);
}

Task<std::optional<ClientError>> ClientExchange::connect(bool may_be_kept) {
  if (stopped_) co_return stopped_error();
  from_kept_ = false;
  if (may_be_kept) connection_ = state_->take_kept(origin_);
  if (connection_) {
    from_kept_ = true;
    written_before_ = connection_->bytes_written();
    co_return std::nullopt;
  }
  if (!state_->may_dial()) {
    co_return error(ClientFault::kLimit, "the client has as many connections open as it may (" +
                                             std::to_string(state_->options.connections_max) + ")");
  }
  auto bad = co_await dial();
  if (bad) state_->dial_failed();
  co_return bad;
}

Task<std::optional<ClientError>> ClientExchange::dial() {
  dialled_result_.reset();
  dialled_.reset();
  dialling_ = state_->dialer->dial(upstream_, state_->options.connect_ms,
                                   [weak = weak_from_this()](DialResult result) {
                                     const auto self = weak.lock();
                                     if (!self || !self->dialling_) return;
                                     self->dialled_result_ = std::move(result);
                                     self->dialled_.set();
                                   });
  co_await dialled_.wait();
  dialling_.reset();
  if (stopped_) co_return stopped_error();
  if (dialled_result_->fault != DialFault::kNone) {
    co_return error(fault_of(dialled_result_->fault), dialled_result_->message);
  }
  connection_ = state_->adopt(std::move(dialled_result_->stream), origin_);
  written_before_ = 0;
  co_return std::nullopt;
}

Task<StreamReader::Fill> ClientExchange::fill(std::int64_t limit_ms, ClientFault fault) {
  // A request that is still on its way has its own limit.
  read_fault_ = fault;
  const bool must_wait = fault == ClientFault::kHeadTimeout && writing_;
  if (!must_wait && read_deadline_ns_ == kNever) read_deadline_ns_ = after_ms(limit_ms);
  const auto result = co_await connection_->reader().fill();
  if (result == StreamReader::Fill::kData) any_read_ = true;
  co_return stopped_ ? StreamReader::Fill::kStopped : result;
}

Task<ClientExchange::HeadResult> ClientExchange::read_head() {
  for (std::size_t count = 0; count <= state_->options.interim_max; ++count) {
    auto head = co_await read_one_head();
    const auto* const received = std::get_if<ReceivedHead>(&head);
    if (received == nullptr || !received->is_interim()) {
      read_deadline_ns_ = kNever;
      co_return head;
    }
  }
  co_return error(ClientFault::kBadResponse, "bad response: too many interim responses (1xx)");
}

Task<ClientExchange::HeadResult> ClientExchange::read_one_head() {
  HeadScanner scanner(state_->options.head, HeadKind::kResponse);
  auto& reader = connection_->reader();
  auto state = scanner.scan(reader.bytes());
  while (state == HeadScanner::State::kMore) {
    const auto filled = co_await fill(state_->options.head_ms, ClientFault::kHeadTimeout);
    if (filled == StreamReader::Fill::kStopped) co_return stopped_error();
    if (filled != StreamReader::Fill::kData) {
      co_return error(ClientFault::kConnectionLost,
                      reader.bytes().empty() ? "the connection ended before a byte of the response"
                                             : "the connection ended within the response's header");
    }
    state = scanner.scan(reader.bytes());
  }
  if (state == HeadScanner::State::kRefused) {
    co_return error(ClientFault::kBadResponse, "bad response: " + scanner.refusal().message);
  }
  auto head = check_response_head(reader.bytes().substr(0, scanner.end()), state_->options.head,
                                  request_.method == "HEAD");
  if (const auto* const bad = std::get_if<Refusal>(&head)) {
    co_return error(ClientFault::kBadResponse, "bad response: " + bad->message);
  }
  reader.consume(scanner.end());
  co_return std::get<ReceivedHead>(std::move(head));
}

Detached ClientExchange::write_request(std::shared_ptr<ClientExchange> self,
                                       RequestHeadBytes head) {
  self->writing_ = true;
  self->request_written_ = false;
  bool ok = false;
  try {
    ok = co_await self->write_pieces(head);
  } catch (...) {
    self->source_failed_ = true;  // or memory ran out
  }
  self->writing_ = false;
  self->request_written_ = ok;
  self->write_deadline_ns_ = kNever;
  if (self->source_failed_) {
    self->stop(ClientFault::kBodySource);  // the upstream must not take what it has for the whole
  } else if (!self->ended_ && self->read_deadline_ns_ == kNever &&
             self->connection_->reader().is_waiting()) {
    // The head's time begins, also when the rest could not be sent: the answer may say why.
    self->read_deadline_ns_ = self->after_ms(self->state_->options.head_ms);
  }
  self->write_ended_.set();
}

Task<void> ClientExchange::writer_ended() {
  while (writing_) {
    write_ended_.reset();
    co_await write_ended_.wait();
  }
}

Task<bool> ClientExchange::write_pieces(const RequestHeadBytes& head) {
  if (request_.source) {
    const bool whole = co_await write_pulled(head);
    co_return whole;
  }
  if (request_.body.size() <= kJoinedBodyBytesMax) {
    const std::string joined = head.bytes + request_.body;
    const bool whole = co_await write(joined);
    co_return whole;
  }
  bool whole = co_await write(head.bytes);
  if (whole) whole = co_await write(request_.body);
  co_return whole;
}

Task<bool> ClientExchange::write_pulled(const RequestHeadBytes& head) {
  bool ok = co_await write(head.bytes);
  auto left = request_.source_bytes.value_or(0);
  while (ok) {
    BodyPiece piece = co_await request_.source();
    if (stopped_ || ended_) co_return false;
    const auto size = piece.bytes.size();
    const bool at_end = piece.state == BodyPiece::State::kEnd;
    const bool wrong = !head.chunked && (at_end ? left > 0 : size > left);
    if (piece.state == BodyPiece::State::kFailed || wrong) {
      source_failed_ = true;
      co_return false;
    }
    left -= head.chunked ? 0 : size;
    ok = co_await write_piece(std::move(piece), head.chunked);
    if (at_end) co_return ok;
  }
  co_return false;
}

Task<bool> ClientExchange::write_piece(BodyPiece piece, bool chunked) {
  std::string framed;
  if (!chunked) {
    framed = std::move(piece.bytes);
  } else if (piece.state == BodyPiece::State::kEnd) {
    framed = kLastChunk;
  } else {
    append_chunk(framed, piece.bytes);
  }
  const bool ok = co_await write(framed);
  co_return ok;
}

Task<bool> ClientExchange::write(std::string_view bytes) {
  const auto connection = connection_;  // outlives the exchange's end
  const auto progress = [this] { write_deadline_ns_ = after_ms(state_->options.write_ms); };
  if (!ended_) progress();
  const bool ok = co_await connection->write_all(bytes, progress);
  write_deadline_ns_ = kNever;
  co_return ok;
}

BodyRead ClientExchange::fail_body(ClientFault fault, std::string_view what) {
  BodyRead result;
  result.state = BodyRead::State::kFailed;
  result.error = stopped_ ? stopped_error() : error(fault, what);
  end(false);
  last_read_ = result;
  return result;
}

BodyRead ClientExchange::body_ended() {
  BodyRead result;
  result.state = BodyRead::State::kEnd;
  end(keep_alive_ && request_written_);
  last_read_ = result;
  return result;
}

Task<BodyRead> ClientExchange::read() {
  const auto self = shared_from_this();
  if (last_read_) co_return *last_read_;
  if (stopped_ || ended_) co_return fail_body(ClientFault::kCancelled, "cancelled");
  auto& reader = connection_->reader();
  reader.consume(std::exchange(unconsumed_, 0));
  while (true) {
    std::string_view rest = reader.bytes();
    std::string_view data;
    const auto before = rest.size();
    const auto state = decoder_.next(rest, data);
    if (state == PieceDecoder::State::kRefused) {
      const auto& refusal = decoder_.refusal();
      co_return fail_body(refusal.reason == RefusalReason::kBodySize ? ClientFault::kLimit
                                                                     : ClientFault::kBadResponse,
                          "bad response: " + refusal.message);
    }
    if (state == PieceDecoder::State::kData) {
      unconsumed_ = before - rest.size();
      BodyRead piece;
      piece.state = BodyRead::State::kData;
      piece.bytes = data;
      co_return piece;
    }
    reader.consume(before - rest.size());
    if (state == PieceDecoder::State::kDone) co_return body_ended();
    read_deadline_ns_ = kNever;
    const auto filled = co_await fill(state_->options.idle_ms, ClientFault::kIdleTimeout);
    read_deadline_ns_ = kNever;
    if (filled == StreamReader::Fill::kData) continue;
    if (filled == StreamReader::Fill::kEnd && decoder_.whole_at_end()) co_return body_ended();
    co_return fail_body(ClientFault::kCutShort, "the connection ended within the response's body");
  }
}

}  // namespace layard::http
