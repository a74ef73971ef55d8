/// Which header fields pass between clients and devices, and which the gateway writes.
///
/// Source: RFC 9110, 7.6.1 (fields of one connection); W3C Trace Context, 3.2 (traceparent).
/// Thread-safety: pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace layard::gateway {

/// What the gateway adds to a request for a device.
struct UpstreamHeaders {
  std::string device_key;      ///< the device's key; empty: it has none
  bool anthropic = false;      ///< the key also goes as `x-api-key`
  bool rewrites_body = false;  ///< the reply's bytes must be readable: no content coding
  /// Random bytes: 16 for a trace's name where the client has none, 8 for this step's.
  std::array<std::uint8_t, 24> random{};
};

/// The fields of a request for a device. Left out: those of one connection and those that
/// Connection names; Host, Content-Length, Content-Encoding (the body is decoded), digests of the
/// body, Expect; what is between client and gateway: Authorization, X-Api-Key, Api-Key, Cookie,
/// Origin, Proxy-*, Forwarded, X-Forwarded-*, X-Real-IP; what only the gateway says: X-Layard-*,
/// X-Laya-*, X-1bit-Route. Added: the device's key, `traceparent` (the client's trace goes on where
/// its field is valid; else a new one begins, sampled, and `tracestate` is left out), and
/// `Accept-Encoding: identity` where the reply is rewritten.
http::Fields upstream_fields(const http::Fields& client, const UpstreamHeaders& add);

/// The fields of a device's reply for the client. Left out: those of one connection and those that
/// Connection names; Content-Length (the server frames anew), Date, digests of the body; Set-Cookie
/// and what speaks for the device's own origin: Access-Control-*, Alt-Svc, Clear-Site-Data,
/// Strict-Transport-Security; what only the gateway says, as above. Event streams get
/// `X-Accel-Buffering: no` and `Cache-Control: no-cache` where the device does not say.
http::Fields downstream_fields(const http::Fields& device);

/// Whether a reply is a stream of events, by its Content-Type.
bool is_event_stream(const http::Fields& reply);

/// The `traceparent` of a request that goes on, from the client's or, where there is none or an
/// invalid one, from the random bytes.
struct TraceParent {
  std::string text;
  bool continues = false;  ///< the client's trace
};
TraceParent next_traceparent(std::optional<std::string_view> client,
                             const std::array<std::uint8_t, 24>& random);

}  // namespace layard::gateway
