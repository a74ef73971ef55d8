/// What the body of a POST asks for: the decisions, and how their answers are to be written.
/// Thread-safety: pure functions; what they return may be used on any thread.
/// Source: that of the forms themselves: checks.h, systemone.h, decisions.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/service.h"
#include "server/checks.h"
#include "server/routes.h"

namespace layard::server {

/// What the server says where a request does not.
struct AskDefaults {
  RequestLimits limits;
  OverflowPolicy overflow = OverflowPolicy::kCut;
  bool jev_strict = false;
};

struct Asked {
  std::vector<ServiceRequest> requests;  // at least one; without client and deadline
  /// The body of the 200: REQUIRES one answer a request, in their order.
  std::function<std::string(std::vector<ServiceAnswer>)> render;
};

/// Reads the body of kSystemOne, kBatch or kDecisions. `request_id` is the answer's id in the
/// decisions form.
OrFault<Asked> read_asked(Endpoint endpoint, std::string_view body, const AskDefaults& defaults,
                          const KnownModels& models, std::string_view request_id);

/// A state as parse_state reads it, of a value that was parsed before. REQUIRES: not null.
State state_of(const base::JsonValue& value);

}  // namespace layard::server
