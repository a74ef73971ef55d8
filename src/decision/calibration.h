/// Temperatures: what a checkpoint ships, what of it is applied, and the warning about the rest.
///
/// Source: laya 0.4.15 common.py `temp_bucket`, `clamp_temperature`, `temperature_rejected`,
/// `answer_confidence`.
/// Thread-safety: immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

inline constexpr double kTemperatureMin = 0.5;
inline constexpr double kTemperatureMax = 5.0;

/// `choice:2`, `score:3-5`, `noul:2`, `choice:6-10`, `choice:11+`: type and option count.
std::string temperature_bucket(QuestionType type, std::size_t options);

/// The temperature applied for one entry of a configuration: a number (or text that Python's
/// float() reads) confined to [0.5, 5]; a bool, NaN, infinity or anything else is 1.
double clamp_temperature(const base::JsonValue& raw);

/// The temperatures of one checkpoint, already clamped.
class Calibration {
 public:
  /// 1 for everything.
  Calibration() = default;

  /// Reads `temperature` (a list of 3, default all 1) and `temperature_by_options` (an object,
  /// default empty) of a decision config; its other members are ignored.
  /// Errors: kUnsupportedModel when either has another shape. Bad entries never stop the load:
  /// they are replaced and named in warning().
  static Result<Calibration> from_config(const base::JsonValue& config);

  /// The same from the text of rl_agent_config.json. Errors: also kArtifactIntegrity.
  static Result<Calibration> from_config_json(std::string_view json);

  /// The same members of a calibration file, whose warning names the file's part in it, and
  /// `binning_map` (default empty): bucket -> {"bins": n, "values": [n numbers in [0, 1]]}, n from
  /// 1 to 1,000. Errors: kInvalidRequest, beginning `calibration JSON`.
  static Result<Calibration> from_calibration_json(const base::JsonValue& root);

  /// The divisor of a row's logits, in [0.5, 5]: the bucket's, else the type's.
  double temperature(QuestionType type, std::size_t options) const;

  /// The answer_confidence of an answer whose largest probability is `largest`, in [0, 1]: the
  /// value of its bin where the bucket has a binning map, bin = floor(largest * bins) but never
  /// beyond the last; else `largest` itself.
  double answer_confidence(QuestionType type, std::size_t options, double largest) const;

  /// One line naming each replaced entry as `name=raw -> applied`; empty when none was.
  const std::string& warning() const { return warning_; }

 private:
  static Result<Calibration> read(const base::JsonValue& config, std::string_view owner);
  Status read_binning_map(const base::JsonValue& map);

  std::array<double, 3> by_type_ = {1.0, 1.0, 1.0};
  std::map<std::string, double, std::less<>> by_bucket_;
  std::map<std::string, std::vector<double>, std::less<>> bins_;
  std::string warning_;
};

}  // namespace layard::decision
