/// Who may ask: the Host and Origin rules and the bearer key.
///
/// http/host_rules.h says why.
/// Source: laya-apple 1.7.0 serve (Host, bearer; order and texts). Departs: the Origin rule.
/// Thread-safety: constant after construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "server/fault.h"

namespace layard::server {

class Access {
 public:
  /// `loopback_only`: the server is bound to a loopback address. `api_key`: empty for none.
  Access(bool loopback_only, std::string api_key);

  /// 421 for a Host that is not loopback, when bound to loopback.
  std::optional<Fault> check_host(const http::Fields& fields) const;
  /// 403 for an Origin that is not the server's own, as the Host field names it.
  std::optional<Fault> check_origin(const http::Fields& fields) const;
  /// 401 without the key. The comparison takes a time that does not depend on the key.
  std::optional<Fault> check_bearer(const http::Fields& fields) const;

  bool has_key() const { return !api_key_.empty(); }
  /// Whether the request carries the key, or none is needed.
  bool is_trusted(const http::Fields& fields) const;
  /// A name for the sender that equals for equal senders and holds no secret.
  std::string client_of(const http::Request& request) const;

 private:
  bool loopback_only_;
  std::string api_key_;
};

}  // namespace layard::server
