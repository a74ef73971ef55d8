#include "http/upstream.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "http/message.h"
#include "http/target.h"

namespace layard::http {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::size_t kHostBytesMax = 253;  // of a name in DNS

Error invalid(std::string_view what) {
  return {ErrorCode::kInvalidRequest, "upstream URL: " + std::string(what)};
}

bool take_scheme(std::string_view& url, bool& tls) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_ignoring_case(url.substr(0, scheme.size()), scheme)) continue;
    tls = scheme.size() == 8;
    url.remove_prefix(scheme.size());
    return true;
  }
  return false;
}

Status read_authority(std::string_view authority, Upstream& upstream) {
  if (authority.find('@') != std::string_view::npos) {
    return invalid("it holds user information; give credentials as a header field");
  }
  auto host = parse_host(authority);
  if (!host || host->host.size() > kHostBytesMax || authority.ends_with(':')) {
    return invalid("after the scheme it needs a host name or address, and perhaps a port");
  }
  if (host->port && *host->port == 0) return invalid("port 0 cannot be connected to");
  upstream.host = std::move(host->host);
  upstream.port = host->port.value_or(upstream.tls ? 443U : 80U);
  return {};
}

}  // namespace

std::string Upstream::host_field() const {
  std::string field = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (tls ? 443U : 80U)) field += ":" + std::to_string(port);
  return field;
}

std::string Upstream::origin() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return (tls ? "https://" : "http://") + name + ":" + std::to_string(port);
}

Result<Upstream> parse_upstream(std::string_view url) {
  if (url.size() > kUrlBytesMax) {
    return invalid("it is over " + std::to_string(kUrlBytesMax) + " bytes");
  }
  const bool plain = std::ranges::all_of(url, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain) return invalid("it holds a space, a control byte or a byte outside ASCII");
  Upstream upstream;
  if (!take_scheme(url, upstream.tls)) return invalid("it must begin with http:// or https://");
  if (url.find('#') != std::string_view::npos) return invalid("it must not hold a fragment (#)");
  if (url.find('?') != std::string_view::npos) return invalid("it must not hold a query (?)");
  if (url.find('\\') != std::string_view::npos) return invalid("it must not hold a backslash");
  const auto slash = std::min(url.find('/'), url.size());
  LAYARD_TRY(read_authority(url.substr(0, slash), upstream));
  auto path = url.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) {
    constexpr std::size_t kSegmentsMax = 64;
    const auto segments = path_segments(path, kSegmentsMax);
    if (!segments.ok()) return invalid(segments.error().message);
  }
  upstream.path = path;
  return upstream;
}

}  // namespace layard::http
