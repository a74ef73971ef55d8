#include "gateway/endpoints.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::gateway {
namespace {

RoutePolicy policy_with_routes() {
  RoutePolicy policy;
  policy.servers.resize(3);
  policy.servers[1].routes = {"GET /props", "POST /v1/rerank"};
  policy.servers[2].routes = {"GET /props", "DELETE /slots/0", "POST /props", "POST /health"};
  return policy;
}

EndpointMatch find(std::string_view method, std::string_view path) {
  static const RoutePolicy kPolicy = policy_with_routes();
  return find_endpoint(method, path, kPolicy);
}

TEST(Endpoints, Forwarded) {
  const auto check = [](std::string_view path, Api api) {
    const EndpointMatch post = find("POST", path);
    EXPECT_EQ(post.status, 200) << path;
    EXPECT_EQ(post.endpoint, Endpoint::kForward) << path;
    EXPECT_EQ(post.api, api) << path;
    EXPECT_FALSE(post.device.has_value()) << path;
    for (const char* method : {"GET", "HEAD", "PUT", "post", "OPTIONS", ""}) {
      const EndpointMatch other = find(method, path);
      EXPECT_EQ(other.status, 405) << method << " " << path;
      EXPECT_EQ(other.allow, "POST") << method << " " << path;
      EXPECT_EQ(other.api, api) << "the error's form: " << method << " " << path;
    }
  };
  check("/v1/chat/completions", Api::kChatCompletions);
  check("/v1/completions", Api::kCompletions);
  check("/v1/responses", Api::kResponses);
  check("/v1/embeddings", Api::kEmbeddings);
  check("/v1/messages", Api::kMessages);
  check("/v1/messages/count_tokens", Api::kCountTokens);
}

TEST(Endpoints, Read) {
  const auto check = [](std::string_view path, Endpoint endpoint) {
    for (const char* method : {"GET", "HEAD"}) {
      const EndpointMatch match = find(method, path);
      EXPECT_EQ(match.status, 200) << method << " " << path;
      EXPECT_EQ(match.endpoint, endpoint) << method << " " << path;
      EXPECT_TRUE(match.allow.empty()) << method << " " << path;
    }
    for (const char* method : {"PUT", "DELETE", "get"}) {
      const EndpointMatch match = find(method, path);
      EXPECT_EQ(match.status, 405) << method << " " << path;
      EXPECT_EQ(match.allow, "GET, HEAD") << method << " " << path;
    }
  };
  check("/v1/models", Endpoint::kModels);
  check("/health", Endpoint::kHealth);
  check("/healthz", Endpoint::kHealth);
  check("/ready", Endpoint::kReady);
  check("/metrics", Endpoint::kMetrics);
  check("/gateway/status", Endpoint::kStatus);
  check("/", Endpoint::kPage);
  check("/status.js", Endpoint::kPage);
  check("/status.css", Endpoint::kPage);
}

TEST(Endpoints, Reload) {
  EXPECT_EQ(find("POST", "/gateway/reload").endpoint, Endpoint::kReload);
  EXPECT_EQ(find("POST", "/gateway/reload").status, 200);
  EXPECT_EQ(find("GET", "/gateway/reload").status, 405);
  EXPECT_EQ(find("GET", "/gateway/reload").allow, "POST");
}

TEST(Endpoints, RoutesOfDevices) {
  const auto check = [](std::string_view method, std::string_view path, std::size_t device) {
    const EndpointMatch match = find(method, path);
    EXPECT_EQ(match.status, 200) << method << " " << path;
    EXPECT_EQ(match.endpoint, Endpoint::kPassThrough) << method << " " << path;
    EXPECT_EQ(match.device, device) << method << " " << path;
  };
  check("GET", "/props", 1);  // the first device that lists it
  check("POST", "/props", 2);
  check("POST", "/v1/rerank", 1);
  check("DELETE", "/slots/0", 2);
  // What the gateway answers itself no device gets.
  EXPECT_EQ(find("POST", "/health").status, 405);
}

TEST(Endpoints, NothingElse) {
  for (const auto& [method, path] : std::vector<std::pair<const char*, const char*>>{
           {"HEAD", "/props"},  // exactly what is listed
           {"PUT", "/props"},
           {"get", "/props"},
           {"GET", "/props/"},
           {"GET", "/Props"},
           {"GET", "/prop"},
           {"GET", "/props/x"},
           {"GET", "/%70rops"},
           {"GET", "props"},
           {"DELETE", "/slots/1"},
           {"DELETE", "/slots/0/../1"},
           {"POST", "/v1/chat/completions/"},
           {"POST", "/v1/chat%2fcompletions"},
           {"POST", "//v1/chat/completions"},
           {"POST", "/chat/completions"},
           {"GET", "/index.html"},
           {"GET", "/web/index.html"},
           {"GET", "/../status.js"},
           {"GET", ""},
           {"GET", "*"},
           {"GET", "/v1"}}) {
    const EndpointMatch match = find(method, path);
    EXPECT_EQ(match.status, 404) << method << " " << path;
    EXPECT_EQ(match.endpoint, Endpoint::kOther) << method << " " << path;
    EXPECT_FALSE(match.device.has_value()) << method << " " << path;
  }
}

TEST(Endpoints, FormOfErrors) {
  EXPECT_EQ(find("GET", "/v1/messages/batches").api, Api::kMessages);
  EXPECT_EQ(find("GET", "/v1/nothing").api, Api::kChatCompletions);
}

TEST(Endpoints, WhoMayUseThem) {
  const auto check = [](Endpoint endpoint, bool key, bool operators) {
    EXPECT_EQ(needs_key(endpoint), key) << static_cast<int>(endpoint);
    EXPECT_EQ(is_operators(endpoint), operators) << static_cast<int>(endpoint);
  };
  check(Endpoint::kForward, true, false);
  check(Endpoint::kPassThrough, true, false);
  check(Endpoint::kModels, true, false);
  check(Endpoint::kHealth, false, false);
  check(Endpoint::kReady, false, false);
  check(Endpoint::kMetrics, true, true);
  check(Endpoint::kStatus, true, true);
  check(Endpoint::kReload, true, true);
  check(Endpoint::kPage, false, false);
  check(Endpoint::kOther, false, false);
}

}  // namespace
}  // namespace layard::gateway
