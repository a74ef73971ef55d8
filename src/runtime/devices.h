/// Which device a request may use in this build, and the reason that is recorded.
#pragma once

#include <string>

#include "kernels/kernels.h"
#include "layard/error.h"
#include "layard/model.h"

namespace layard::runtime {

enum class DeviceRequest : unsigned char { kAuto, kCpu, kGpu, kNpu };

struct DeviceChoice {
  DeviceRequest request = DeviceRequest::kAuto;
  /// One of the guide's routing reasons.
  std::string reason;
};

/// Reads `auto`, `cpu`, `gpu`, `npu` or `ane` (npu's other name).
/// Errors: kInvalidRequest naming the accepted words.
Result<DeviceChoice> choose_device(const std::string& device);

/// The kernels that `environment` asks for, or the best this machine has.
/// Errors: kInvalidRequest (an unknown name), kBackendUnavailable (not on this machine); both say
/// what this machine runs.
Result<const kernels::KernelTable*> choose_kernels(const Environment& environment);

/// Checks the options that need no checkpoint. Errors: kInvalidRequest, and those of
/// choose_kernels.
Status check_options(const ModelOptions& options);

/// Whether this build can run that request; called when something is to be run, so that an empty
/// request succeeds on any device.
/// Errors: kBackendUnavailable naming the missing module and what to do instead.
Status require_runnable(const DeviceChoice& choice);

}  // namespace layard::runtime
