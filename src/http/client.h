/// The HTTP/1.1 client: requests to upstreams, and their responses piece by piece as they arrive.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <variant>

#include "http/client_types.h"
#include "http/dial.h"
#include "http/loop.h"
#include "http/message.h"
#include "http/task.h"
#include "http/upstream.h"

namespace layard::http {

class ClientExchange;
class ClientState;

/// What one read of a response's body gave.
struct BodyRead {
  enum class State : std::uint8_t { kData, kEnd, kFailed };
  State state = State::kEnd;
  std::string_view bytes;  // when kData: at most 64 KiB; valid until the next read or the end of
                           // the response
  ClientError error;       // when kFailed
};

/// A response whose head is complete and whose body is still to be read.
/// Ownership: destroyed before the body's end it closes the connection at once.
/// Thread-safety: its client's loop's thread only. Move-only; a moved-from one may only be
/// destroyed or assigned.
class ClientResponse {
 public:
  ClientResponse(int status, Fields fields, bool has_body,
                 std::shared_ptr<ClientExchange> exchange);
  ClientResponse(ClientResponse&& other) noexcept;
  ClientResponse& operator=(ClientResponse&& other) noexcept;
  ~ClientResponse();

  int status = 200;  // 200..599
  /// As they were sent, framing and hop-by-hop fields too: who forwards them has to drop those.
  Fields fields;
  bool has_body = false;  // the framing leaves room for one; never to HEAD, in 204 and 304

  /// The next piece as soon as any of it has arrived: nothing is waited for to fill it. After kEnd
  /// or kFailed it gives the same again. Nothing is read from the connection between two calls, so
  /// a slow reader slows the upstream down. One call at a time; await it to its end, which a
  /// cancellation brings at once.
  Task<BodyRead> read();

 private:
  std::shared_ptr<ClientExchange> exchange_;
};

using ClientResult = std::variant<ClientResponse, ClientError>;

/// Sends requests on one loop and keeps connections for the next ones.
///
/// Redirects are given back, never followed. Nothing is sent twice, with one exception: a kept
/// connection that ended before a byte of the response is replaced once by a fresh one when no
/// byte of the request was written, or when the request is a GET, HEAD or OPTIONS without a body.
///
/// Thread-safety: the loop's thread only; a ClientRequest's stop_token may be used from any.
/// Ownership: the loop must outlive the client and its responses, and run until shut_down() is done
/// for their memory to be freed.
class Client {
 public:
  /// `dialer` connects on the same loop (make_dialer of dial.h).
  Client(Loop& loop, std::unique_ptr<Dialer> dialer, const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Returns when the response's head is complete; the request's body may still be on its way then.
  /// The upstream's connection is closed whenever the result is an error.
  /// Await it to its end, which a cancellation brings at once.
  Task<ClientResult> send(Upstream upstream, ClientRequest request);

  /// Cancels everything, then waits until every socket is closed. Later sends fail with kCancelled.
  Task<void> shut_down();

  /// Connections that are being opened, in use, kept or closing.
  std::size_t open_connections() const;
  std::size_t kept_connections() const;

 private:
  std::shared_ptr<ClientState> state_;
};

}  // namespace layard::http
