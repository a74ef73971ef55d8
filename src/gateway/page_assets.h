/// Files of the status page that are in the program: src/gateway/web, which the build turns into
/// source. Thread-safety: constants.
#pragma once

#include <span>

#include "gateway/asset.h"

namespace layard::gateway {

/// Every file, in order of name.
std::span<const Asset> page_assets();

}  // namespace layard::gateway
