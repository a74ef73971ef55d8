/// YAML text as JSON values: the only file that knows yaml-cpp.
///
/// What is taken is the part of YAML that means one thing to every reader: maps, lists, texts,
/// numbers, `true`, `false` and `null`. Anchors, aliases, merge keys, tags, several documents and
/// numbers that YAML 1.1 and 1.2 read differently (010, 0x10, .inf) are refused. `yes`, `no`, `on`
/// and `off` are texts, and every name of a member is a text, whatever it looks like.
/// Source: YAML 1.2.2 core schema; departs: as said above.
/// Thread-safety: pure.
#pragma once

#include <optional>
#include <string_view>

#include "gateway/policy_text.h"

namespace layard::gateway {

/// The text of one document, without a byte-order mark. Nothing where it is refused; `findings`
/// then has an error with its place. Bounds: those of policy_text.h.
std::optional<PolicyText> read_policy_yaml(std::string_view text, PolicyFindings& findings);

}  // namespace layard::gateway
