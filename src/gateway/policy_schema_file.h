/// The published schema of policy files, in the program: the build writes the source from
/// docs/policy.schema.json.
///
/// Thread-safety: constants.
#pragma once

#include <span>

#include "gateway/asset.h"

namespace layard::gateway {

/// The one file.
std::span<const Asset> schema_files();

}  // namespace layard::gateway
