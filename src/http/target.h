/// What a request-target says: percent-decoding, query parameters, media types. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::http {

/// Undoes percent-encoding. The bytes that result may be any; `+` stays a plus.
/// Errors: kInvalidRequest when `%` is not followed by two hex digits, or stands for a NUL.
Result<std::string> percent_decode(std::string_view text);

/// The segments of a path between slashes, each percent-decoded: `/a/b%2Fc` is {"a", "b/c"}, `/` is
/// {}, a slash at the end adds an empty segment.
/// Bounds: at most `segments_max`. Errors: kInvalidRequest as percent_decode, too many segments, or
/// a segment that is `.` or `..` after decoding.
Result<std::vector<std::string>> path_segments(std::string_view path, std::size_t segments_max);

struct QueryParameter {
  std::string name;
  std::string value;
};

/// `a=1&b=x%20y&c` in order; `+` is a space, a parameter without `=` has an empty value, empty
/// pieces are skipped, repeated names are kept.
/// Bounds: at most `parameters_max`. Errors: kInvalidRequest as percent_decode, or too many.
Result<std::vector<QueryParameter>> parse_query(std::string_view query, std::size_t parameters_max);

/// The value of the last parameter called `name`.
std::optional<std::string_view> find_parameter(const std::vector<QueryParameter>& parameters,
                                               std::string_view name);

/// Whether a Content-Type field names `media_type` (`application/json`), whatever its parameters.
bool is_media_type(std::string_view content_type, std::string_view media_type);

/// What follows `Bearer ` in an Authorization field; nothing for other schemes or an empty token.
std::optional<std::string_view> bearer_token(std::string_view authorization);

/// Whether two secrets are equal, in a time that depends on the length of `given` only.
bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept;

struct HostPort {
  std::string host;  // lower case; an IPv6 address is without its brackets
  std::optional<unsigned> port;
};

/// Splits a Host field: a name, an IPv4 address or a bracketed IPv6 address, and perhaps a port.
/// Nothing when it has another form (user information, an empty host, a port over 65535).
std::optional<HostPort> parse_host(std::string_view host);

}  // namespace layard::http
