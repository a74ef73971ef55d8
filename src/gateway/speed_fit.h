/// A device's speed from measured requests: time to the first token a + (n_p - h) / P, then one
/// token every 1 / D, all by least absolute deviations, which a few slow requests do not move.
///
/// Deterministic: the same points in the same order give the same bits. Thread-safety: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/evidence_file.h"
#include "gateway/route_gain.h"

namespace layard::gateway {

struct FitPoint {
  double x = 0;
  double y = 0;
};

/// y = intercept + slope x.
struct FitLine {
  double intercept = 0;
  double slope = 0;
};

/// The middle value, of an even number the mean of the two; 0 of none.
double median(std::vector<double> values);

/// The slope of the line through the origin that is the least absolute deviation from the points:
/// the median of y / x weighted by x. Points with x <= 0 do not count; 0 where none is left.
double least_absolute_rate(std::span<const FitPoint> points);

/// A line of the least absolute deviation. Points at one x give a slope of 0 and their median. The
/// line passes through two of the points: from some points in turn it is turned to the best slope
/// through them until nothing gets better. Bounds: 32 starts, 256 turns each, n log n a turn.
FitLine least_absolute_line(std::span<const FitPoint> points);

/// Where one line of reading holds: prompts of more than `above` tokens, up to the next piece.
struct PrefillPiece {
  double above = -1;
  double fixed_ms = 0;     ///< a
  double prefill_tps = 0;  ///< P
};

struct ClassRate {
  std::string class_name;
  double decode_tps = 0;  ///< D
};

/// A token that takes less than this is taken to cost nothing: a speed of a billion a second.
inline constexpr double kTokenMsMin = 1e-6;

struct DeviceFit {
  std::string device;
  std::vector<PrefillPiece> prefill;  ///< the first one is for all lengths
  std::vector<ClassRate> decode;

  /// a, P and D for a request of a class; without a queue. REQUIRES: can_predict(class_name).
  DeviceSpeed speed(std::string_view class_name, const RequestSize& size) const;
  bool can_predict(std::string_view class_name) const;
};

/// How well the fit says what was not used for it.
inline constexpr double kHeldOutErrorMax = 0.10;

struct SpeedModel {
  std::vector<DeviceFit> devices;
  double held_out_error = 1;  ///< median of |predicted - measured| / measured
  std::size_t held_out = 0;   ///< requests
  /// The error is at most kHeldOutErrorMax: times may be predicted for other sizes.
  bool usable = false;

  const DeviceFit* find(std::string_view device) const;
  /// T of a request; nothing where the model is not usable or lacks the device or class.
  std::optional<double> predict_ms(std::string_view device, std::string_view class_name,
                                   const RequestSize& size) const;
};

/// The size that was measured; nothing where the prompt's tokens are not known.
std::optional<RequestSize> measured_size(const MeasuredRequest& request);

/// Whether a request counts: status 200, no control, not of a discarded round.
bool counts(const MeasuredEvidence& evidence, const MeasuredRequest& request);

/// Fits every device on four fifths of the prompts, holds the result against the rest, and fits
/// again on all. Reading is fitted in pieces of up to 512, 2,048, 8,192 and more tokens where that
/// predicts what was held out better than one line.
SpeedModel fit_speeds(const MeasuredEvidence& evidence);

}  // namespace layard::gateway
