/// Fields and framing of a header, read by one piece of code for requests and for responses. Pure.
///
/// A RefusalReason says what is wrong; its status is only what a server answers to a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "http/head_limits.h"
#include "http/message.h"
#include "http/refusal.h"

namespace layard::http {

/// The next line without its CRLF, taken off the front of `rest`; nothing when there is no CRLF.
std::optional<std::string_view> take_line(std::string_view& rest);

/// Appends the fields of `rest`: lines that each end in CRLF, then an empty one, then nothing.
/// Every field is `token ":" value` on one line, without control bytes.
/// Bounds: HeadLimits::fields_max.
std::optional<Refusal> read_fields(std::string_view rest, const HeadLimits& limits, Fields& fields);

enum class BodyFraming : std::uint8_t { kNone, kLength, kChunked };

struct Framing {
  BodyFraming framing = BodyFraming::kNone;  // kNone: the fields name none
  std::uint64_t content_length = 0;          // for kLength
};

/// At most one Content-Length, decimal digits only, below 2^63; Transfer-Encoding only once, only
/// `chunked`, only on HTTP/1.1 and without Content-Length.
std::variant<Framing, Refusal> read_framing(const Fields& fields, int version_minor);

/// Refuses a Connection field that is not a list of tokens.
std::optional<Refusal> check_connection(const Fields& fields);

/// Whether the sender of these fields keeps the connection open after the message.
bool keeps_connection(const Fields& fields, int version_minor);

}  // namespace layard::http
