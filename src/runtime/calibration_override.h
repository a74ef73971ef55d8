/// The calibration file that stands in the place of a checkpoint's own temperatures.
#pragma once

#include <string>

#include "base/json.h"
#include "base/log.h"
#include "decision/calibration_file.h"
#include "layard/error.h"
#include "layard/model.h"
#include "runtime/loaded_model.h"

namespace layard::runtime {

/// Reads the file and checks that it was fitted on the weights of `identity`; one that does not say
/// is taken with a warning that names it. Messages begin with the file.
/// Errors: kIo; kInvalidRequest (not of its form); kArtifactRevision naming both weights.
Result<decision::CalibrationFile> read_calibration(const std::string& path,
                                                   const ModelIdentity& identity,
                                                   base::LogSink& log);

/// Errors: kInvalidRequest where the options have a calibration file beside `auto`: it belongs to
/// one checkpoint's weights.
Status check_one_calibration(const std::string& calibration_file, std::string_view model);

/// `{"file", "fitted_on", "weights_sha256", "matches", "temperature", "temperature_by_options"}` of
/// options.calibration_file for `layard info`; "matches" is null where the file does not say, or
/// the checkpoint is not on this machine. Errors: as read_calibration, but of other weights only in
/// "matches".
Result<base::JsonValue> calibration_info(const ModelOptions& options);

}  // namespace layard::runtime
