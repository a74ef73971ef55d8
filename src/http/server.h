/// An HTTP/1.1 server: connections, limits, time-outs and framing. What requests mean is the
/// handler's; the room knows nothing of Layard's questions.
///
/// Invariants: a request that is ambiguous in any way gets one 4xx and its connection is closed,
/// nothing after it is interpreted; no byte of a body is read before the handler admits the
/// request; every buffer, queue and wait has a bound in ServerOptions.
///
/// Where things are: bytes become requests in request_checks, chunk_decoder, content_decoder and
/// body_decoder, responses become bytes in response_head (pure); connection plays one client's part
/// in time, connection_set all clients of a thread, exchange carries a request to a handler's
/// thread and its answer back (on the interfaces of loop.h); loop owns sockets (Asio); server the
/// threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "http/head_limits.h"
#include "http/message.h"
#include "http/refusal.h"
#include "layard/error.h"

namespace layard::http {

/// Times are milliseconds on the monotonic clock; a limit is noticed within a tenth of the shortest
/// of them, at most half a second late.
struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, or `localhost` for 127.0.0.1
  unsigned port = 0;               // 0 takes a free one; Server::port() says which
  unsigned io_threads = 1;         // 1..64; a connection stays on one of them
  std::size_t connections_max = 1024;
  /// Connections over connections_max get 503 with Retry-After and are closed. So many of them may
  /// be on their way out at a time; more are closed without a word.
  std::size_t connections_refusing_max = 64;
  unsigned retry_after_s = 1;  // in Retry-After of the server's own 503s

  HeadLimits head;
  std::size_t body_bytes_max = 2 * 1024 * 1024;           // on the wire, and after decompression
  std::size_t body_memory_bytes_max = 256 * 1024 * 1024;  // of all connections together
  std::size_t stream_queue_bytes_max = 256 * 1024;        // of one streamed response
  /// A refused request's body up to this size is read and dropped so that the connection lives on;
  /// after a larger one it is closed.
  std::size_t discard_bytes_max = 64 * 1024;

  std::int64_t idle_ms = 75'000;   // between requests; clients keep connections for 30 s
  std::int64_t head_ms = 10'000;   // from a header's first byte to its last
  std::int64_t body_ms = 60'000;   // for a whole body
  std::int64_t write_ms = 30'000;  // without the client taking a byte of a response
  std::int64_t linger_ms = 2'000;  // reading on after a closing response, so that it arrives
  std::int64_t drain_ms = 10'000;  // from stop() to the end of what is in flight
};

/// Errors: kInvalidRequest naming the option that is out of its range.
Status check_options(const ServerOptions& options);

/// Sums since the start, except where a comment says `at the moment`.
struct Counters {
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_open = 0;         // at the moment
  std::uint64_t accept_errors = 0;            // descriptors or memory ran out
  std::uint64_t connections_idle_closed = 0;  // the idle limit passed
  std::uint64_t requests = 0;                 // complete headers that passed the checks
  std::uint64_t requests_open = 0;            // at the moment: admitted and not yet answered
  std::uint64_t refused_by_handler = 0;       // by Handler::admit
  std::array<std::uint64_t, kRefusalReasons> refused{};  // by RefusalReason
  std::array<std::uint64_t, 6> responses{};              // begun, by status / 100
  std::uint64_t clients_gone = 0;   // left while their request was read or handled
  std::uint64_t responses_cut = 0;  // begun, but the client left or took nothing
  std::uint64_t response_fields_dropped = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t body_memory_bytes = 0;  // at the moment
};

enum class WriteStatus : std::uint8_t {
  kAccepted,
  kFull,  // nothing was taken: wait for on_writable
  kGone,  // the client left, or the response is over
};

class Exchange;
class SocketLoop;

/// The answer to one request. Any thread may complete it; exactly one of send() or start() counts,
/// and whatever comes after the end is ignored. Dropped without an answer the client gets 500
/// (kUnanswered); dropped inside a stream the connection is closed without the end mark, so that
/// the client knows that something is missing. It may outlive the server. Thread-safety: one caller
/// at a time; cancelled() from any thread.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange);
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;
  ~Responder();

  /// Requested when the client goes away, the server is forced to stop or a write times out. A
  /// client that closes only its sending half counts as gone. Callbacks run on one of the server's
  /// threads and must not block.
  const std::stop_token& cancelled() const;

  /// Sends a whole response.
  void send(Response response);

  /// Begins a streamed response; `head.body` must be empty. HTTP/1.1 clients get chunks, HTTP/1.0
  /// clients bytes until the connection closes.
  void start(Response head);
  /// Hands over bytes that leave at once. Taken whole or not at all: kFull when more than
  /// stream_queue_bytes_max would wait (a single piece always fits an empty queue).
  WriteStatus write(std::string_view bytes);
  /// Calls `callback` once, on one of the server's threads, when the queue is empty or the client
  /// is gone (at once when it already is). Replaces an earlier callback. It must not block.
  void on_writable(std::function<void()> callback);
  /// Ends a streamed response well.
  void finish();
  /// Ends it badly: the connection is closed where it stands.
  void cut();

 private:
  std::shared_ptr<Exchange> exchange_;
};

/// What Handler::admit decides.
struct Admission {
  /// Refuses the request with this response; its body is not read into memory.
  std::optional<Response> refusal;
  /// Travels in Request::ticket and goes when the request does, also when its body never comes: a
  /// place in a queue, say. Its destructor runs on any thread and must not block.
  std::shared_ptr<void> ticket;
  /// Instead of ServerOptions::body_bytes_max, for this request.
  std::optional<std::size_t> body_bytes_max;
};

/// Thread-safety: called from all of the server's threads at once, when io_threads is more than 1.
/// No call may block: the connections of the thread wait meanwhile. An exception is answered with
/// 500.
class Handler {
 public:
  virtual ~Handler() = default;

  /// After the header passed the checks, before any of the body is read.
  virtual Admission admit(const Request& request) = 0;

  /// A complete request. `responder` may be completed here or later, from any thread.
  virtual void handle(Request request, Responder responder) = 0;

  /// The response to what the server itself refuses; `path` is the target's path where the
  /// header got so far, else empty. The status is the refusal's. By default one line of text.
  virtual Response refusal_response(const Refusal& refusal, std::string_view path);

  /// A loop begins to run, on its thread, before its first request: the time to make what belongs
  /// to the thread, such as a Client. By default nothing.
  virtual void loop_begins(SocketLoop& loop);
  /// The loop has served its last request and ends once `done` was called, on its thread too: the
  /// time to close what loop_begins() made. Called once for each loop that began. By default it is
  /// done at once.
  virtual void loop_ends(SocketLoop& loop, std::function<void()> done);
};

/// A listening server with its threads.
/// Thread-safety: any number of callers.
class Server {
 public:
  /// Listens and serves. `handler` must outlive the server.
  /// Errors: kInvalidRequest for options, kIo when the address cannot be bound, naming it.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler& handler);

  virtual ~Server() = default;  // as two stops and a wait

  virtual unsigned port() const = 0;
  /// The first call stops listening, closes idle connections, lets what is in flight finish for
  /// drain_ms and then cuts it; the second cuts at once. Returns without waiting. Not for use in a
  /// signal handler.
  virtual void stop() = 0;
  /// Waits for the end of a stop. May be called before stop().
  virtual void wait() = 0;
  virtual Counters counters() const = 0;
};

}  // namespace layard::http
