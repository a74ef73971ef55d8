/// The published schema of policy files, in the program: the build writes the source from
/// docs/policy.schema.json.
///
/// Thread-safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace layard::gateway {

struct Asset {
  std::string_view name;
  std::string_view content;
};

/// The one file.
std::span<const Asset> schema_files();

}  // namespace layard::gateway
