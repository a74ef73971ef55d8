/// What a service may be opened with.
#pragma once

#include "layard/error.h"
#include "layard/service.h"

namespace layard::runtime {

/// Whether every bound and time is in its range. What checkpoints are opened with is checked where
/// they are. Errors: kInvalidRequest naming the option, its value and the range.
Status check_service_options(const ServiceOptions& options);

}  // namespace layard::runtime
