/// A policy file's text, JSON or YAML, as values with their places.
///
/// Thread-safety: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/policy_findings.h"

namespace layard::gateway {

/// Bytes a policy file may have.
inline constexpr std::size_t kPolicyBytesMax = std::size_t{1} << 20;
/// Levels, values, and members of one object that it may have.
inline constexpr std::size_t kPolicyDepthMax = 32;
inline constexpr std::size_t kPolicyNodesMax = 65536;
inline constexpr std::size_t kPolicyMembersMax = 4096;

struct PolicyText {
  base::JsonValue root;
  PlaceTree places;
  /// Names that an object says twice: found, not yet judged.
  std::vector<PolicyFinding> repeats;

  PolicyNode node() const { return {&root, &places, "", ""}; }
};

/// Whether a file of this name and text is read as YAML: the name ends in .yaml or .yml, or it does
/// not end in .json and the text does not begin with `{`.
bool is_yaml_policy(std::string_view name, std::string_view text);

/// Reads a text by the rule of is_yaml_policy. Nothing where it is refused; `findings` then has an
/// error of kind kSyntax. A JSON object that says a name twice keeps the last value, as the 1bit
/// router does, and tells of it in `repeats`; YAML refuses it.
std::optional<PolicyText> read_policy_text(std::string_view text, std::string_view name,
                                           PolicyFindings& findings);

/// What names a file's content in records: the SHA-256 of its bytes, 64 hex digits.
std::string policy_hash(std::string_view text);

}  // namespace layard::gateway
