/// What the header of a response from an upstream may be: as strict as request_checks.h. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "http/head_limits.h"
#include "http/message.h"
#include "http/refusal.h"

namespace layard::http {

/// How the body that follows a response's header ends.
enum class ResponseBody : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

struct ReceivedHead {
  int status = 200;       // 100..599
  int version_minor = 1;  // HTTP/1.0 or HTTP/1.1
  Fields fields;
  ResponseBody body = ResponseBody::kNone;
  std::uint64_t content_length = 0;  // for kLength
  bool keep_alive = true;            // the connection can carry another request after the body

  /// 1xx: the response proper is still to come.
  bool is_interim() const noexcept { return status < 200; }
};

/// Reads and checks a whole header as HeadScanner delimits it, final empty line included.
/// `to_head` says that the request's method was HEAD.
/// Any bytes may be given; what passes fulfils:
/// - `HTTP/1.x SP status` with x 0 or 1 and three digits, then perhaps a space and a reason;
/// - the rules of head_fields.h for fields, lengths and codings;
/// - no 101, as the client asks for no other protocol;
/// - no Transfer-Encoding in 1xx and 204, no Content-Length there but 0.
std::variant<ReceivedHead, Refusal> check_response_head(std::string_view head,
                                                        const HeadLimits& limits, bool to_head);

}  // namespace layard::http
