/// Where the values of a JSON text stand, and which names it says twice: what a parsed value does
/// not tell any more.
///
/// Thread-safety: pure.
#pragma once

#include <string_view>
#include <vector>

#include "gateway/policy_findings.h"

namespace layard::gateway {

struct JsonPlaces {
  PlaceTree root;
  /// Names that their object has already, each where it stands again. The last value counts.
  struct Repeat {
    std::string pointer;  ///< of the object
    std::string name;
    PolicyPlace place;
  };
  std::vector<Repeat> repeats;  ///< at most PolicyFindings::kMax
};

/// The places in `text`, in the shape of what base::parse_json makes of it.
/// REQUIRES: base::parse_json took `text`, with few enough levels to recurse.
/// Bounds: linear in the text.
JsonPlaces find_json_places(std::string_view text);

}  // namespace layard::gateway
