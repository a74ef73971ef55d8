#include "server/access.h"

#include <arpa/inet.h>

#include <array>
#include <functional>

#include "http/target.h"

namespace layard::server {
namespace {

// Field values are lists of bytes to no one but the sender: nothing of them is repeated.
constexpr std::string_view kNotLoopback = "this server answers loopback requests only";
constexpr std::string_view kForeignOrigin = "this server answers its own pages only";
constexpr std::string_view kNoBearer = "invalid or missing bearer token";

bool same_server(const http::HostPort& a, const http::HostPort& b, unsigned default_port) {
  return a.host == b.host && a.port.value_or(default_port) == b.port.value_or(default_port);
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  if (host == "localhost") return true;
  const std::string text(host);
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return bytes[0] == 127;
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return false;
  std::array<unsigned char, 16> loopback{};
  loopback[15] = 1;
  return bytes == loopback;
}

Access::Access(bool loopback_only, std::string api_key)
    : loopback_only_(loopback_only), api_key_(std::move(api_key)) {}

std::optional<Fault> Access::check_host(const http::Fields& fields) const {
  if (!loopback_only_) return std::nullopt;
  const auto host = http::parse_host(fields.value_or_empty("Host"));
  if (host.has_value() && is_loopback_host(host->host)) return std::nullopt;
  return Fault{421, std::string(kNotLoopback)};
}

std::optional<Fault> Access::check_origin(const http::Fields& fields) const {
  const auto origin = fields.find("Origin");
  if (!origin.has_value()) return std::nullopt;
  const auto host = http::parse_host(fields.value_or_empty("Host"));
  for (const auto& [scheme, default_port] :
       {std::pair<std::string_view, unsigned>{"http://", 80}, {"https://", 443}}) {
    if (!host.has_value() || !origin->starts_with(scheme)) continue;
    const auto named = http::parse_host(origin->substr(scheme.size()));
    if (named.has_value() && same_server(*named, *host, default_port)) return std::nullopt;
  }
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
