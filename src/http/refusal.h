/// Why the server itself refuses a request or a connection: the labels of its counters and the
/// reasons that a handler turns into a response of its own form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace layard::http {

/// The order is the order of refusal_table().
enum class RefusalReason : std::uint8_t {
  kRequestLine,       // not `METHOD SP target SP HTTP/1.x`
  kVersion,           // neither HTTP/1.0 nor HTTP/1.1
  kTarget,            // not in origin form, or with bytes that must be percent-encoded
  kTargetSize,        // longer than HeadLimits::target_bytes_max
  kField,             // no colon, space before it, folded line, not a token
  kControlByte,       // NUL, a bare CR or LF, any other control byte
  kFieldCount,        // more than HeadLimits::fields_max
  kHeadSize,          // more than HeadLimits::head_bytes_max
  kHost,              // absent on HTTP/1.1, twice, or not a host
  kTransferEncoding,  // anything but one `chunked` on HTTP/1.1 without Content-Length
  kContentLength,     // twice, a list, a sign, not a number
  kUpgrade,           // the connection cannot change protocol
  kExpectation,       // anything but 100-continue
  kChunk,             // broken chunk framing, or too much of it
  kBodySize,          // the body is larger than its limit, before or after decompression
  kContentEncoding,   // neither identity, gzip nor zstd
  kCompressedBody,    // gzip or zstd data that is broken, cut off or needs too much memory
  kHeadTime,          // the header did not arrive in time
  kBodyTime,          // the body did not arrive in time
  kBodyMemory,        // all bodies together would need more than body_memory_bytes_max
  kConnections,       // more than connections_max
  kUnanswered,        // the handler let go of the request without an answer
};

struct RefusalInfo {
  RefusalReason reason;
  std::string_view name;  // snake case, for metrics
  int status;             // what the client gets
};

/// Exactly one row per RefusalReason, in enumerator order.
std::span<const RefusalInfo> refusal_table() noexcept;
inline constexpr std::size_t kRefusalReasons = 22;

std::string_view refusal_name(RefusalReason reason) noexcept;
int refusal_status(RefusalReason reason) noexcept;

/// The message says what was found and what to do; it never repeats bytes of the request.
struct Refusal {
  RefusalReason reason = RefusalReason::kRequestLine;
  std::string message;

  int status() const noexcept { return refusal_status(reason); }
};

}  // namespace layard::http
