/// The decisions that one HTTP request needs, asked together.
/// Source: none; ours.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "server/decider.h"

namespace layard::server {

/// Submits all requests and calls `done` exactly once, on any thread, perhaps before it returns:
/// with all answers in their order, or with the first error. After an error, or when `cancelled` is
/// requested (kCancelled), what is still queued is taken out.
/// `decider` must outlive the call of `done`.
void ask_all(Decider& decider, std::vector<ServiceRequest> requests,
             const std::stop_token& cancelled,
             std::function<void(Result<std::vector<ServiceAnswer>>)> done);

}  // namespace layard::server
