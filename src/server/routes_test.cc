#include "server/routes.h"

#include <gtest/gtest.h>

#include <set>

namespace layard::server {
namespace {

void check(const char* method, const char* path, int status, Endpoint endpoint) {
  const RouteMatch match = find_route(method, path);
  EXPECT_EQ(match.status, status) << method << " " << path;
  EXPECT_EQ(match.endpoint, endpoint) << method << " " << path;
}

TEST(ServerRoutes, Paths) {
  check("POST", "/v1/systemone", 200, Endpoint::kSystemOne);
  check("POST", "/v1/systemone/batch", 200, Endpoint::kBatch);
  check("POST", "/v1/decisions", 200, Endpoint::kDecisions);
  check("GET", "/v1/models", 200, Endpoint::kModels);
  check("HEAD", "/v1/models", 200, Endpoint::kModels);
  check("GET", "/health", 200, Endpoint::kHealth);
  check("GET", "/healthz", 200, Endpoint::kHealth);
  check("GET", "/ready", 200, Endpoint::kReady);
  check("GET", "/metrics", 200, Endpoint::kMetrics);
  check("GET", "/openapi.json", 200, Endpoint::kOpenApi);
  check("GET", "/", 200, Endpoint::kPage);
  check("GET", "/index.html", 200, Endpoint::kPage);
  for (const char* path : {"", "/v1", "/v1/systemone/", "//", "/../openapi.json", "/web/index.html",
                           "/openapi.json/", "/V1/SYSTEMONE"}) {
    check("GET", path, 404, Endpoint::kOther);
  }
}

TEST(ServerRoutes, Methods) {
  check("GET", "/v1/systemone", 405, Endpoint::kSystemOne);
  check("HEAD", "/v1/systemone", 405, Endpoint::kSystemOne);
  check("POST", "/v1/models", 405, Endpoint::kModels);
  check("OPTIONS", "/v1/systemone", 405, Endpoint::kSystemOne);
  check("get", "/health", 405, Endpoint::kHealth);
  check("POST", "/", 405, Endpoint::kPage);
  EXPECT_EQ(find_route("GET", "/v1/systemone").allow, "POST");
  EXPECT_EQ(find_route("PUT", "/health").allow, "GET, HEAD");
}

TEST(ServerRoutes, WhoNeedsAKey) {
  for (const RouteInfo& route : route_table()) {
    const bool open = route.endpoint == Endpoint::kHealth || route.endpoint == Endpoint::kReady ||
                      route.endpoint == Endpoint::kOpenApi;
    EXPECT_EQ(find_route(route.method, route.path).needs_key, !open) << route.path;
  }
  EXPECT_FALSE(find_route("GET", "/").needs_key);
}

TEST(ServerRoutes, NamesDiffer) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kEndpoints; ++i) {
    names.insert(endpoint_name(static_cast<Endpoint>(i)));
  }
  EXPECT_EQ(names.size(), kEndpoints);
  EXPECT_EQ(endpoint_name(Endpoint::kOther), "other");
}

}  // namespace
}  // namespace layard::server
