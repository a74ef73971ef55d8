#include "server/access.h"

#include <functional>

#include "http/host_rules.h"
#include "http/target.h"

namespace layard::server {
namespace {

// Field values are lists of bytes to no one but the sender: nothing of them is repeated.
constexpr std::string_view kNotLoopback = "this server answers loopback requests only";
constexpr std::string_view kForeignOrigin = "this server answers its own pages only";
constexpr std::string_view kNoBearer = "invalid or missing bearer token";

}  // namespace

Access::Access(bool loopback_only, std::string api_key)
    : loopback_only_(loopback_only), api_key_(std::move(api_key)) {}

std::optional<Fault> Access::check_host(const http::Fields& fields) const {
  if (!loopback_only_ || http::names_loopback_host(fields)) return std::nullopt;
  return Fault{421, std::string(kNotLoopback)};
}

std::optional<Fault> Access::check_origin(const http::Fields& fields) const {
  if (http::is_own_origin(fields)) return std::nullopt;
  return Fault{403, std::string(kForeignOrigin)};
}

bool Access::is_trusted(const http::Fields& fields) const {
  if (api_key_.empty()) return true;
  const auto token = http::bearer_token(fields.value_or_empty("Authorization"));
  return http::equal_in_constant_time(token.value_or(std::string_view()), api_key_);
}

std::optional<Fault> Access::check_bearer(const http::Fields& fields) const {
  if (is_trusted(fields)) return std::nullopt;
  return Fault{401, std::string(kNoBearer)};
}

std::string Access::client_of(const http::Request& request) const {
  // Where no key is asked for, programs on one machine still tell themselves apart by theirs.
  const std::string_view authorization =
      api_key_.empty() ? request.fields.value_or_empty("Authorization") : std::string_view();
  return request.peer_address + "/" + std::to_string(std::hash<std::string_view>()(authorization));
}

}  // namespace layard::server
