/// New connections to upstreams: names resolved, sockets connected, TLS agreed. The seam between
/// the client's logic and Asio and OpenSSL, as loop.h is the server's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/loop.h"
#include "http/upstream.h"
#include "layard/error.h"

namespace layard::http {

enum class DialFault : std::uint8_t {
  kNone,
  kUnresolved,   // the name has no address, or nobody could say
  kRefused,      // nothing listens there
  kUnreachable,  // any other failure of the network
  kTimeout,      // resolving, connecting and the handshake took longer than they may
  kTls,          // the certificate is not to be trusted, or the handshake failed
};

struct DialResult {
  std::unique_ptr<Stream> stream;  // when kNone
  DialFault fault = DialFault::kNone;
  std::string message;  // otherwise: what failed, naming the host
};

/// One attempt that is under way. Destroyed before its end it closes its socket at once, and
/// nobody is told.
class Dialling {
 public:
  virtual ~Dialling() = default;
};

/// Thread-safety: used on its loop's thread only.
class Dialer {
 public:
  virtual ~Dialer() = default;

  /// Calls `done` once, on the loop's thread and never from within this call, at most about
  /// `wait_ms` later. `done` may destroy the attempt. The addresses of a name are tried in turn,
  /// at most 8, each for its share of the time that is left.
  virtual std::unique_ptr<Dialling> dial(const Upstream& upstream, std::int64_t wait_ms,
                                         std::function<void(DialResult)> done) = 0;
};

struct TlsOptions {
  /// A PEM file of the authorities to trust instead of the system's.
  std::string ca_file;
};

/// Connections with TCP, and for https TLS 1.2 or later with SNI and a verified certificate that
/// names the host. Names are resolved on a thread that belongs to the loop: one that is slow to
/// resolve delays other names of this loop, but nothing else. Attempts may outlive the dialer.
/// `loop` must outlive it and its attempts.
/// Errors: kIo when `ca_file` cannot be read or holds no certificate.
Result<std::unique_ptr<Dialer>> make_dialer(SocketLoop& loop, const TlsOptions& tls);

}  // namespace layard::http
