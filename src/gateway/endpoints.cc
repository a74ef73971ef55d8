#include "gateway/endpoints.h"

#include <array>

#include "gateway/gateway_pages.h"

namespace layard::gateway {
namespace {

struct Row {
  std::string_view path;
  std::string_view method;
  Endpoint endpoint;
  Api api = Api::kChatCompletions;
};

constexpr std::array kRows = {
    Row{"/v1/chat/completions", "POST", Endpoint::kForward, Api::kChatCompletions},
    Row{"/v1/completions", "POST", Endpoint::kForward, Api::kCompletions},
    Row{"/v1/responses", "POST", Endpoint::kForward, Api::kResponses},
    Row{"/v1/embeddings", "POST", Endpoint::kForward, Api::kEmbeddings},
    Row{"/v1/messages", "POST", Endpoint::kForward, Api::kMessages},
    Row{"/v1/messages/count_tokens", "POST", Endpoint::kForward, Api::kCountTokens},
    Row{"/v1/models", "GET", Endpoint::kModels},
    Row{"/health", "GET", Endpoint::kHealth},
    Row{"/healthz", "GET", Endpoint::kHealth},
    Row{"/ready", "GET", Endpoint::kReady},
    Row{"/metrics", "GET", Endpoint::kMetrics},
    Row{"/gateway/status", "GET", Endpoint::kStatus},
    Row{"/gateway/reload", "POST", Endpoint::kReload},
};

bool takes(std::string_view allowed, std::string_view method) {
  return method == allowed || (allowed == "GET" && method == "HEAD");
}

EndpointMatch match(const Row& row, std::string_view method) {
  EndpointMatch out{200, row.endpoint, row.api};
  if (takes(row.method, method)) return out;
  out.status = 405;
  out.allow = row.method == "GET" ? "GET, HEAD" : "POST";
  return out;
}

}  // namespace

EndpointMatch find_endpoint(std::string_view method, std::string_view path,
                            const RoutePolicy& policy) {
  for (const Row& row : kRows) {
    if (row.path == path) return match(row, method);
  }
  const std::string route = std::string(method) + " " + std::string(path);
  for (std::size_t i = 0; i < policy.servers.size(); ++i) {
    for (const std::string& allowed : policy.servers[i].routes) {
      if (allowed == route) return {200, Endpoint::kPassThrough, Api::kChatCompletions, i};
    }
  }
  if (find_page_file(path) != nullptr) return match({path, "GET", Endpoint::kPage}, method);
  EndpointMatch none;
  if (path.starts_with("/v1/messages")) none.api = Api::kMessages;
  return none;
}

bool needs_key(Endpoint endpoint) {
  return endpoint == Endpoint::kForward || endpoint == Endpoint::kPassThrough ||
         endpoint == Endpoint::kModels || is_operators(endpoint);
}

bool is_operators(Endpoint endpoint) {
  return endpoint == Endpoint::kMetrics || endpoint == Endpoint::kStatus ||
         endpoint == Endpoint::kReload;
}

}  // namespace layard::gateway
