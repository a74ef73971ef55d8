/// What is answered at which path. Only what is listed here, or in a device's `routes`, is.
/// Thread-safety: pure functions over constant tables.
/// Source: OpenAI's and Anthropic's APIs (paths of /v1); the rest is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/chat_request.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

enum class Endpoint : std::uint8_t {
  kForward,      ///< goes to the device that the policy names
  kPassThrough,  ///< goes to the device that lists it
  kModels,
  kHealth,
  kReady,
  kMetrics,
  kStatus,
  kReload,
  kPage,
  kOther,
};

struct EndpointMatch {
  int status = 404;  ///< 200, 404, or 405 with `allow`
  Endpoint endpoint = Endpoint::kOther;
  Api api = Api::kChatCompletions;                   ///< of kForward; else the form of errors
  std::optional<std::size_t> device = std::nullopt;  ///< of kPassThrough, a place in servers
  std::string_view allow = {};
};

/// `path` is as it was sent; a path that is escaped is another.
EndpointMatch find_endpoint(std::string_view method, std::string_view path,
                            const RoutePolicy& policy);

/// Whether callers need a key there, where keys are asked for.
bool needs_key(Endpoint endpoint);
/// Whether it shows or changes how the gateway runs: for operators.
bool is_operators(Endpoint endpoint);

}  // namespace layard::gateway
