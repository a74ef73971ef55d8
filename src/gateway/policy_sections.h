/// The parts that only a policy with `version` has: how the gateway decides, keeps conversations
/// and reaches devices, and the evidence of rows.
///
/// Thread-safety: pure.
#pragma once

#include "gateway/policy_fields.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// Reads `model_names`, `alternates_on_error`, `decide`, `sticky`, `devices` and `evidence` of
/// `root` into `policy`.
void read_policy_sections(const PolicyNode& root, PolicyFields& fields, RoutePolicy& policy);

}  // namespace layard::gateway
