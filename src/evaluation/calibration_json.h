/// The text of a calibration file.
/// Thread-safety: pure function.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluation/fit.h"

namespace layard::evaluation {

/// What stands in a calibration file.
struct CalibrationContent {
  std::string model;
  std::string weights_sha256;
  std::string dtype;
  base::JsonValue config;  ///< rl_agent_config.json, an object
  std::size_t questions = 0;
  FitOptions options;
  Temperatures temperatures;
  std::map<std::string, std::size_t> counted;  ///< by bucket and type
  std::map<std::string, std::vector<double>> binning;
  std::map<std::string, double> thresholds;
};

/// Version 2 of upstream's schema, indented by one; what is ours is in its last member, `layard`.
/// Source: laya 0.4.15 `save_calibration` (members, their order).
std::string calibration_json(const CalibrationContent& content);

}  // namespace layard::evaluation
