/// Why a row goes where it goes, in words.
///
/// Thread-safety: pure.
#pragma once

#include <string>

#include "gateway/derive_policy.h"

namespace layard::gateway {

/// `331.5 ms`, `1.933 s`, `15.1 s`.
std::string time_words(double ms);

/// One or more sentences without a full stop at the end, with the numbers that decided: for people,
/// and for the policy's `why`. At most some 600 bytes beside the names of devices.
std::string row_words(const DerivedRow& row, const Derivation& derivation,
                      const DeriveOptions& options);

/// Sentences about the whole: traffic, speeds, what asking costs. One a line.
std::string derivation_words(const Derivation& derivation);

}  // namespace layard::gateway
