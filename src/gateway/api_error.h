/// Errors in the form that a client of each API expects.
///
/// Source: OpenAI's API (error object; the Responses stream's `error` event) and Anthropic's
/// (error object, its types by status; the stream's `error` event).
/// Thread-safety: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gateway/chat_request.h"
#include "http/message.h"

namespace layard::gateway {

/// Bytes of a message that are sent; a longer one is cut, not within a character.
inline constexpr std::size_t kErrorMessageBytesMax = 2000;

/// OpenAI's type of an error by its status: `invalid_request_error`, `authentication_error`,
/// `permission_error`, `not_found_error`, `rate_limit_error`, `server_error`.
std::string_view openai_error_type(int status) noexcept;
/// Anthropic's: `invalid_request_error`, `authentication_error`, `permission_error`,
/// `not_found_error`, `request_too_large`, `rate_limit_error`, `overloaded_error`, `api_error`.
std::string_view anthropic_error_type(int status) noexcept;

/// A whole answer. OpenAI's form has all four members, null where nothing is said; an empty `type`
/// is openai_error_type(status). Anthropic's form has no `param` and no `code`, and its type always
/// follows from the status, as its clients know no others.
/// REQUIRES: status 400..599.
http::Response api_error_response(Api api, int status, std::string_view type,
                                  std::string_view message,
                                  std::optional<std::string_view> param = std::nullopt,
                                  std::optional<std::string_view> code = std::nullopt);

/// The event that ends a stream which broke after its first byte, and `status` is what the answer
/// would have had. Never followed by `[DONE]`: a client must not take the answer for whole. To be
/// sent at SseWatch::at_boundary(), or after two line ends. Of the Responses API's event the
/// `sequence_number` is 0: the gateway does not count its events.
std::string api_error_event(Api api, int status, std::string_view type, std::string_view message,
                            std::optional<std::string_view> code = std::nullopt);

}  // namespace layard::gateway
