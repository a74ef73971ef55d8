/// The bytes of a request: its head and how its body is framed. Pure.
#pragma once

#include <string>
#include <variant>

#include "http/client_types.h"
#include "http/upstream.h"

namespace layard::http {

struct RequestHeadBytes {
  std::string bytes;
  bool chunked = false;  // BodySource's pieces become chunks
};

/// Request line, Host, the request's fields without those that are the client's, framing and the
/// empty line. A body of known length gets Content-Length, as does an empty one of POST, PUT and
/// PATCH; a pulled one of unknown length is chunked.
/// Errors: kRequest for a method that is no token, CONNECT, a target that is not in origin form or
/// too long, a field name or value that may not be sent (CR, LF, NUL, other control bytes, spaces
/// at its ends), and a head over ClientOptions::request_head_bytes_max. Values of fields are never
/// repeated in messages.
std::variant<RequestHeadBytes, ClientError> write_request_head(const ClientRequest& request,
                                                               const Upstream& upstream,
                                                               const ClientOptions& options);

/// Whether the request may be sent again after a kept connection ended without a byte of a response
/// although request bytes were written: GET, HEAD and OPTIONS without a body.
bool is_repeatable(const ClientRequest& request) noexcept;

}  // namespace layard::http
