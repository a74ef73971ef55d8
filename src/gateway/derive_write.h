/// The policy file that follows from measurements.
///
/// Thread-safety: pure. The same input gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gateway/derive_policy.h"
#include "gateway/policy_text.h"

namespace layard::gateway {

/// A base policy: what the new one keeps.
struct DeriveBase {
  RoutePolicy policy = RoutePolicy::built_in();
  std::optional<PolicyText> text;  ///< nothing: the built-in policy
};

/// Reads a policy file as a base. Errors: kInvalidRequest, as RoutePolicy::parse.
Result<DeriveBase> read_derive_base(std::string_view text, const std::string& source);

/// A policy with `version` 1: every class has a row with `why` and, where it was measured,
/// `evidence` of the best other device (which the row goes to, where it moved); `decide.when` is
/// `useful`. Members of the base stay, in their order, but for the rows, the evidence of rows that
/// were derived, and, of a base without version, members that nothing reads. A row of a class that
/// was not measured stays as it is where its evidence carries it, else it goes to the default
/// device. `devices` gets those that the base's lacks; a base without gets them where the
/// evidence has the URL of each that is named.
/// Errors: kInvalidRequest when the result does not pass check_policy, with its first finding.
Result<std::string> write_derived_policy(const Derivation& derivation,
                                         const MeasuredEvidence& evidence, const DeriveBase& base,
                                         const DeriveOptions& options);

}  // namespace layard::gateway
