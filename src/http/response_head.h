/// The bytes of a response: its head, and the frame around each piece of a streamed one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace layard::http {

enum class ResponseFraming : std::uint8_t {
  kLength,   // Content-Length of Response::body
  kNoBody,   // 204 and 304: neither a length nor a body
  kChunked,  // streamed to HTTP/1.1
  kClose,    // streamed to HTTP/1.0: the end of the connection is the end of the body
};

struct ResponseHeadOptions {
  ResponseFraming framing = ResponseFraming::kLength;
  bool close = false;
  bool say_keep_alive = false;  // to an HTTP/1.0 client that asked for it
  std::string_view date = {};   // as http_date writes it
};

struct ResponseHead {
  std::string bytes;
  std::size_t fields_dropped = 0;  // names or values that may not be sent
};

/// Status line, the response's fields without those that are the server's, the server's own, and
/// the empty line. A status outside 100..599 is written as 500.
ResponseHead write_response_head(const Response& response, const ResponseHeadOptions& options);

/// Appends `piece` as one chunk; an empty piece appends nothing, as an empty chunk is the end.
void append_chunk(std::string& out, std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// Seconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`. Bounds: the years 1970 to 9999; others
/// are moved to the nearest of them.
std::string http_date(std::int64_t unix_time_s);

}  // namespace layard::http
