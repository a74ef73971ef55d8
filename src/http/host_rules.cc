#include "http/host_rules.h"

#include <arpa/inet.h>

#include <array>
#include <string>
#include <utility>

#include "http/target.h"

namespace layard::http {
namespace {

bool same_server(const HostPort& a, const HostPort& b, unsigned default_port) {
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

bool names_loopback_host(const Fields& fields) {
  const auto host = parse_host(fields.value_or_empty("Host"));
  return host.has_value() && is_loopback_host(host->host);
}

bool is_own_origin(const Fields& fields) {
  const auto origin = fields.find("Origin");
  if (!origin.has_value()) return true;
  if (fields.count("Origin") != 1) return false;
  const auto host = parse_host(fields.value_or_empty("Host"));
  for (const auto& [scheme, default_port] :
       {std::pair<std::string_view, unsigned>{"http://", 80}, {"https://", 443}}) {
    if (!host.has_value() || !origin->starts_with(scheme)) continue;
    const auto named = parse_host(origin->substr(scheme.size()));
    if (named.has_value() && same_server(*named, *host, default_port)) return true;
  }
  return false;
}

}  // namespace layard::http
