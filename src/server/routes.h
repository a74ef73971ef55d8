/// What is answered at which path.
/// Thread-safety: pure functions over constant tables.
/// Source: typesafe-sdk 0.7.5, laya 0.4.15 serve, laya-apple 1.7.0 serve (paths).
/// Departs: `/ready`, `/metrics` and the page are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace layard::server {

/// The order is that of route_table(); the names label logs and metrics.
enum class Endpoint : std::uint8_t {
  kSystemOne,
  kBatch,
  kDecisions,
  kModels,
  kHealth,
  kReady,
  kMetrics,
  kOpenApi,
  kPage,   // `/` and the files it loads
  kOther,  // no route: the path of a 404, or unknown since the header could not be read
};
inline constexpr std::size_t kEndpoints = 10;

/// `systemone`, `batch`, ...
std::string_view endpoint_name(Endpoint endpoint);

struct RouteInfo {
  std::string_view path;
  std::string_view method;  // GET also answers HEAD
  Endpoint endpoint;
  bool needs_key;  // where the server has one
};

/// Every path but those of the page's files.
std::span<const RouteInfo> route_table();

/// Where a request goes. `status`: 200, 404, or 405 with the method that is allowed.
struct RouteMatch {
  int status = 200;
  Endpoint endpoint = Endpoint::kOther;
  bool needs_key = false;
  std::string_view allow;  // of 405
};
RouteMatch find_route(std::string_view method, std::string_view path);

}  // namespace layard::server
