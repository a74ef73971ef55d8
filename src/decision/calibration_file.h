/// The file that replaces a checkpoint's temperatures: `layard fit-temperatures` writes it,
/// `--calibration` reads it, and so does upstream.
///
/// Source: laya 0.4.15 `save_calibration`, `load_calibration` (version 2: members and shapes).
/// Departs: the member `layard` is ours; upstream passes over it.
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "decision/calibration.h"
#include "layard/error.h"

namespace layard::decision {

/// Bytes a calibration file may have; real ones have some thousand.
inline constexpr std::size_t kCalibrationBytesMax = std::size_t{4} << 20;

struct CalibrationFile {
  Calibration calibration;
  /// As written: a list of three, and an object (empty where the file has none).
  base::JsonValue temperature;
  base::JsonValue temperature_by_options;
  /// `model_id_or_path`; empty where it is not a text.
  std::string model;
  /// `layard.weights_sha256`, the weights it was fitted on: 64 lower-case hex digits; empty where
  /// the file does not say, as upstream's.
  std::string weights_sha256;
};

/// Reads `{"version": 2, "temperature": [3], "temperature_by_options"?, "binning_map"?,
/// "model_id_or_path"?, "layard"?: {"weights_sha256"?}, ...}`; other members are passed over.
/// Errors: kInvalidRequest, beginning `calibration JSON`, where a member has another shape.
Result<CalibrationFile> parse_calibration_file(std::string_view json);

}  // namespace layard::decision
