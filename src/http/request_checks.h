/// What a request's header may be: the gate before anything else happens with a request. Pure.
///
/// The gate is stricter than RFC 9112 wherever two readers of one message could disagree, because a
/// proxy in front of us may be the other reader. It accepts one spelling of every message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "http/head_fields.h"
#include "http/head_limits.h"
#include "http/message.h"
#include "http/refusal.h"

namespace layard::http {

enum class HeadKind : std::uint8_t { kRequest, kResponse };

/// Finds the end of a header in bytes that arrive in pieces, refusing what cannot become one as
/// early as it shows: control bytes, bare CR or LF, too many lines, too many bytes. Each byte is
/// looked at once. Thread-safety: one caller at a time.
class HeadScanner {
 public:
  enum class State : std::uint8_t { kMore, kDone, kRefused };

  explicit HeadScanner(const HeadLimits& limits, HeadKind kind = HeadKind::kRequest)
      : limits_(limits), kind_(kind) {}

  /// `bytes` is everything since the last message's end: the same bytes as before and more.
  /// One empty line before a request line is passed over.
  State scan(std::string_view bytes);

  /// When kDone: where the header begins and ends in `bytes`, its final empty line included.
  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return position_; }
  /// When kRefused.
  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  State look_at(char c);
  State end_line();
  State refuse_first(char c);
  State refuse(RefusalReason reason, std::string_view message);

  HeadLimits limits_;
  HeadKind kind_;
  std::size_t begin_ = 0;
  std::size_t position_ = 0;
  std::size_t line_bytes_ = 0;
  std::size_t lines_ = 0;
  bool after_cr_ = false;
  Refusal refusal_;
};

struct RequestHead {
  Request request;  // without body, times and peer
  BodyFraming framing = BodyFraming::kNone;
  std::uint64_t content_length = 0;  // for kLength
  bool keep_alive = true;            // what the client wants
  bool expects_continue = false;
};

/// Reads and checks a whole header as HeadScanner delimits it, final empty line included.
/// Any bytes may be given; what passes fulfils:
/// - `METHOD SP target SP HTTP/1.x` with x 0 or 1, the target in origin form and printable ASCII;
/// - every field is `token ":" value`, no folded lines, no control bytes;
/// - exactly one Host on HTTP/1.1, at most one on HTTP/1.0, and it is a host with perhaps a port;
/// - at most one Content-Length, decimal digits only, below 2^63;
/// - Transfer-Encoding only once, only `chunked`, only on HTTP/1.1 and without Content-Length;
/// - no Upgrade; Expect only `100-continue`; Connection is a list of tokens.
std::variant<RequestHead, Refusal> check_request_head(std::string_view head,
                                                      const HeadLimits& limits);

enum class ContentCoding : std::uint8_t { kIdentity, kGzip, kZstd };

/// The one coding that the Content-Encoding fields name; nothing for another or more than one.
std::optional<ContentCoding> content_coding(const Fields& fields);

}  // namespace layard::http
