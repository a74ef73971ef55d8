/// The packed-weights cache as `layard cache` prints it (docs/output.md).
///
/// Thread-safety: pure.
#pragma once

#include "backends/cpu/packed_cache.h"
#include "base/json.h"
#include "layard/model.h"

namespace layard::runtime {

/// `files_left_out` and `removed_left_out` are there only where something was.
base::JsonValue to_json(const backends::cpu::PackedListing& listing,
                        const Environment& environment);
base::JsonValue to_json(const backends::cpu::PackedPruning& report);

}  // namespace layard::runtime
