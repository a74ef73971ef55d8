/// A policy file's values as a RoutePolicy: what each member must be, all faults at once.
///
/// Thread-safety: pure.
#pragma once

#include "gateway/policy_findings.h"
#include "gateway/policy_text.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// Reads both forms of the file (route_policy.h). Where a member is not what it must be there is a
/// finding, and the policy has the default instead; with an error among the findings it is not to
/// be used. What the parts say about each other is checked by policy_check.h.
RoutePolicy read_policy(const PolicyText& text, PolicyFindings& findings);

}  // namespace layard::gateway
