/// What the HTTP client is asked and what it says: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "http/head_limits.h"
#include "http/message.h"
#include "http/task.h"

namespace layard::http {

/// Why a request has no response, or its body no end. The order is the order of client_fault_name.
enum class ClientFault : std::uint8_t {
  kRequest,         // the request may not be sent: its method, target or a field
  kUnresolved,      // the host name has no address
  kRefused,         // nothing listens on the port
  kUnreachable,     // the network failed before there was a connection
  kConnectTimeout,  // no connection within connect_ms
  kTls,             // the peer's certificate or its TLS is not acceptable
  kWriteTimeout,    // the peer took none of the request for write_ms
  kHeadTimeout,     // no complete response head within head_ms
  kIdleTimeout,     // no byte of the body for idle_ms
  kTotalTimeout,    // the exchange took longer than total_ms
  kConnectionLost,  // the peer closed or reset before its response's head was complete
  kBadResponse,     // the response breaks a rule of response_checks.h or of chunks
  kCutShort,        // the peer closed or reset in the body
  kBodySource,      // the request's own body could not be read
  kLimit,           // a bound of ClientOptions: connections, or the body's size
  kCancelled,       // the caller gave up
};
inline constexpr std::size_t kClientFaults = 16;

/// `connect_timeout`, for metrics and logs.
std::string_view client_fault_name(ClientFault fault) noexcept;

struct ClientError {
  ClientFault fault = ClientFault::kConnectionLost;
  std::string message;  // names the upstream, what was found and what was expected
  /// Bytes of the request may have reached the upstream: it may have acted on them, so only who
  /// knows that the request is harmless may send it again.
  bool request_sent = false;
  /// A kept connection ended before a byte of the response: the upstream may just have given it up,
  /// and a fresh one may do.
  bool kept_connection_ended = false;
};

/// The next piece of a request's body.
struct BodyPiece {
  enum class State : std::uint8_t { kData, kEnd, kFailed };
  State state = State::kEnd;
  std::string bytes;  // when kData
};

/// Called for one piece after another, on the loop's thread, until it says kEnd or kFailed. After a
/// cancellation a call that is under way must still end: the request's memory waits for it. How
/// long a call may take is the source's own business, but for ClientOptions::total_ms.
using BodySource = std::function<Task<BodyPiece>()>;

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // origin form; the upstream's path is put in front of it
  /// Host, Content-Length, Transfer-Encoding, Connection, Keep-Alive, Proxy-Connection, TE,
  /// Trailer, Upgrade and Expect are the client's: values given here are ignored.
  Fields fields;
  std::string body;
  BodySource source;  // instead of `body` when it is set
  /// What `source` yields in all, where that is known; the body is chunked otherwise.
  std::optional<std::uint64_t> source_bytes;
  /// Takes no kept connection: for a request that must not meet one that is just being closed.
  bool fresh_connection = false;
  /// From any thread: ends the exchange and closes its socket at once, also in the body.
  std::stop_token cancel;
};

/// Times are upper bounds, noticed up to ClientOptions::tick_ms late.
struct ClientOptions {
  std::int64_t connect_ms = 5'000;  // resolving, TCP and TLS together
  std::int64_t write_ms = 30'000;   // until the peer takes some more of the request
  std::int64_t head_ms = 600'000;   // from the request's last byte to the end of the head
  std::int64_t idle_ms = 300'000;   // between two pieces of a body, counted while somebody reads
  std::int64_t total_ms = 0;        // from send() to the body's end; 0: no bound
  std::int64_t tick_ms = 20;

  HeadLimits head;  // of responses; target_bytes_max of requests
  std::size_t request_head_bytes_max = 64 * 1024;
  std::size_t interim_max = 16;  // 1xx responses before the response proper
  std::uint64_t body_bytes_max = std::uint64_t{1} << 40;

  std::size_t connections_max = 4096;  // open for a request or kept, of all upstreams together
  /// Kept after a response for the next request; 0 keeps none.
  std::size_t kept_per_upstream_max = 32;
  std::size_t kept_max = 256;
  /// Below the 5 s after which common servers close: a request must not meet a connection that its
  /// server is just giving up.
  std::int64_t kept_ms = 4'000;
};

}  // namespace layard::http
