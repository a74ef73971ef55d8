/// JSON that describes this build, this machine and the models: `layard info`.
#pragma once

#include <string>

#include "layard/model.h"
#include "runtime/devices.h"
#include "runtime/loaded_model.h"

namespace layard::runtime {

/// One opened model's block; `loaded` is null while it is lazy.
std::string model_info(const ModelOptions& options, const DeviceChoice& device,
                       const LoadedModel* loaded);

}  // namespace layard::runtime
