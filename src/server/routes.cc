#include "server/routes.h"

#include <array>

#include "server/assets.h"

namespace layard::server {
namespace {

constexpr std::array<RouteInfo, 9> kRoutes = {{
    {"/v1/systemone", "POST", Endpoint::kSystemOne, true},
    {"/v1/systemone/batch", "POST", Endpoint::kBatch, true},
    {"/v1/decisions", "POST", Endpoint::kDecisions, true},
    {"/v1/models", "GET", Endpoint::kModels, true},
    {"/health", "GET", Endpoint::kHealth, false},
    {"/healthz", "GET", Endpoint::kHealth, false},
    {"/ready", "GET", Endpoint::kReady, false},
    {"/metrics", "GET", Endpoint::kMetrics, true},
    {"/openapi.json", "GET", Endpoint::kOpenApi, false},
}};

constexpr std::array<std::string_view, kEndpoints> kNames = {
    "systemone", "batch",   "decisions", "models", "health",
    "ready",     "metrics", "openapi",   "page",   "other"};

bool takes(std::string_view allowed, std::string_view method) {
  return method == allowed || (allowed == "GET" && method == "HEAD");
}

RouteMatch match(const RouteInfo& route, std::string_view method) {
  if (takes(route.method, method)) return {200, route.endpoint, route.needs_key, {}};
  return {405, route.endpoint, route.needs_key, route.method == "GET" ? "GET, HEAD" : "POST"};
}

}  // namespace

std::string_view endpoint_name(Endpoint endpoint) {
  return kNames[static_cast<std::size_t>(endpoint)];
}

std::span<const RouteInfo> route_table() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view path) {
  for (const RouteInfo& route : kRoutes) {
    if (route.path == path) return match(route, method);
  }
  if (find_page_file(path) != nullptr) return match({path, "GET", Endpoint::kPage, false}, method);
  return {404, Endpoint::kOther, false, {}};
}

}  // namespace layard::server
