/// One file over HTTP: redirects followed by hand, the token kept at home, every wait bounded.
/// The only place, with hub_url.cc, that knows libcurl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "checkpoint/options.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// Head of the final response.
struct HttpHead {
  int status = 0;
  std::string url;  // that answered, without query
  std::string etag;
  std::string content_type;
  std::string content_encoding;
  std::string content_range;
  std::string location;
  std::optional<std::uint64_t> content_length;
  std::optional<std::int64_t> retry_after_s;
};

/// Receives a response of status 2xx. An error ends the transfer and is its outcome.
class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  /// Called once, before any body.
  virtual Status on_head(const HttpHead& head) = 0;
  virtual Status on_body(std::span<const std::byte> bytes) = 0;
};

struct HttpRequest {
  std::string url;
  /// Bytes already there: asks for the rest, provided the file still has `etag`. 0 asks for all.
  std::uint64_t range_from = 0;
  std::string etag;
};

/// How a transfer ended.
struct HttpOutcome {
  HttpHead head;
  /// Nothing when the whole response with status 2xx was received.
  std::optional<Error> error;
  /// The same request may succeed later (connection trouble, 408, 429, 5xx, a cut body).
  bool retryable = false;
};

/// Fetches `request.url`. Rules: http(s) only, as check_url() and check_redirect() say; at most
/// options.redirects_max redirects; options.token goes only to options.endpoint's origin and is
/// dropped for good by the first redirect to another; proxies as libcurl reads them from the
/// environment; a body of status 3xx or an error status is not delivered.
/// Errors in the outcome: kBackendUnavailable (network, server, refused redirects), kInvalidRequest
/// (an address or token that cannot be used), kCancelled (stop requested), the receiver's own.
/// Thread-safety: any number of calls at a time.
HttpOutcome http_fetch(const HttpRequest& request, const HubOptions& options,
                       HttpReceiver& receiver, const std::stop_token& stop);

}  // namespace layard::checkpoint
