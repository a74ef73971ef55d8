/// Where a client sends its requests: the address in a checked URL. Pure.
#pragma once

#include <string>
#include <string_view>

#include "layard/error.h"

namespace layard::http {

struct Upstream {
  bool tls = false;   // https
  std::string host;   // lower case; an IPv6 address is without its brackets
  unsigned port = 0;  // 1..65535
  std::string path;   // in front of every target: empty, or begins with '/' and does not end in it

  /// What goes into Host: the port only where it is not the scheme's own.
  std::string host_field() const;
  /// `https://host:port`, for messages and as a key.
  std::string origin() const;

  bool operator==(const Upstream&) const = default;
};

/// Reads `http://host`, `https://host:port/path`, `http://[::1]:8080`.
/// Bounds: 2,048 bytes; a host name of 253. Errors: kInvalidRequest that says which part is wrong
/// (scheme, user information, host, port, query, fragment, path) and never repeats user
/// information.
Result<Upstream> parse_upstream(std::string_view url);

}  // namespace layard::http
