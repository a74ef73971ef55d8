/// The members of one device in a policy with `version`: how it is reached, what it can serve, how
/// much at once, how its health is looked after, and the child process that it may be.
///
/// A key of a device never stands in a policy: the file names where it is kept.
/// Thread-safety: pure.
#pragma once

#include "gateway/policy_fields.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// Reads the object of one device. What its members say about each other is found here too, as
/// kStructure where the schema says the same, and as a warning where a member has no effect. No
/// finding shows what a member about keys holds.
/// REQUIRES: `node` is an object.
PolicyDevice read_policy_device(const PolicyNode& node, PolicyFields& fields);

}  // namespace layard::gateway
