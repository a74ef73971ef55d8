/// Which addresses a download may touch. Pure text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "layard/error.h"

namespace layard::checkpoint {

/// An absolute address, taken apart.
struct Url {
  std::string text;
  std::string scheme;  // lower case
  std::string host;    // lower case; an IPv6 address without brackets
  int port = 0;        // the scheme's own when the address names none
  bool has_credentials = false;

  /// `scheme://host:port`: what a token belongs to.
  std::string origin() const;
  /// The address without query and fragment, which may be signatures: for messages.
  std::string shown() const;
};

/// Errors: kInvalidRequest when `text` is not an absolute address.
Result<Url> parse_url(std::string_view text);

/// `text` with what may be a user name and password in front of an `@` replaced by `***`, for
/// messages: also where the rest is no address.
std::string without_credentials(std::string_view text);

/// `reference` (a Location header) as seen from `base`; absolute or relative.
Result<Url> join_url(const Url& base, std::string_view reference);

/// 127.0.0.0/8, ::1, localhost.
bool is_loopback_host(std::string_view host);

/// https anywhere, http on loopback only, no user name or password in the address.
/// Errors: kInvalidRequest naming the address and the rule.
Status check_url(const Url& url);

/// check_url(to), and https is never left for http.
Status check_redirect(const Url& from, const Url& to);

/// `<endpoint>/<repo>/resolve/<revision>/<path>`.
std::string file_url(std::string_view endpoint, std::string_view repo, std::string_view revision,
                     std::string_view path);

}  // namespace layard::checkpoint
