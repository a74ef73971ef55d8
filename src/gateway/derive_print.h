/// What `layard route derive` says of the policy it wrote.
///
/// Thread-safety: pure. The same input gives the same bytes.
#pragma once

#include <string>

#include "gateway/derive_policy.h"

namespace layard::gateway {

/// For people: derivation_words(), then a table of class, device, gain with interval, and why.
std::string print_derivation(const Derivation& derivation);

/// `{"default", "traffic", "speeds", "asking", "rows"}`, indented by one.
std::string derivation_json(const Derivation& derivation);

}  // namespace layard::gateway
