#include "gateway/speed_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace layard::gateway {
namespace {

constexpr double kMsPerS = 1000;
constexpr std::size_t kStartsMax = 16;
constexpr int kTurnsMax = 256;
constexpr std::array<double, 3> kPieceEnds = {512, 2048, 8192};
// A piece needs that many requests, and lengths that differ by that much.
constexpr std::size_t kPiecePointsMin = 8;
constexpr double kPieceSpreadMin = 1.5;
// Every fifth prompt is held out.
constexpr std::size_t kHeldOutEvery = 5;

struct WeightedSlope {
  double slope = 0;
  double weight = 0;
  std::size_t index = 0;
};

// The slope at which half of the weight is passed. REQUIRES: not empty.
WeightedSlope weighted_median(std::vector<WeightedSlope>& slopes) {
  std::ranges::sort(slopes, [](const WeightedSlope& a, const WeightedSlope& b) {
    return a.slope != b.slope ? a.slope < b.slope : a.index < b.index;
  });
  double all = 0;
  for (const WeightedSlope& one : slopes) all += one.weight;
  double passed = 0;
  for (const WeightedSlope& one : slopes) {
    passed += one.weight;
    if (2 * passed >= all) return one;
  }
  return slopes.back();
}

double deviation(std::span<const FitPoint> points, const FitLine& line) {
  double sum = 0;
  for (const FitPoint& point : points) {
    sum += std::abs(point.y - line.intercept - line.slope * point.x);
  }
  return sum;
}

// The best line through point `pivot`, and the other point it passes through; false where all
// points stand at one x.
bool best_through(std::span<const FitPoint> points, std::size_t pivot, FitLine& line,
                  std::size_t& other) {
  const FitPoint& at = points[pivot];
  std::vector<WeightedSlope> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double dx = points[i].x - at.x;
    if (dx != 0) slopes.push_back({(points[i].y - at.y) / dx, std::abs(dx), i});
  }
  if (slopes.empty()) return false;
  const WeightedSlope best = weighted_median(slopes);
  line = {at.y - best.slope * at.x, best.slope};
  other = best.index;
  return true;
}

using Points = std::vector<FitPoint>;

PrefillPiece piece_of(double above, const Points& points) {
  const FitLine line = least_absolute_line(points);
  if (line.slope > kTokenMsMin) return {above, line.intercept, kMsPerS / line.slope};
  std::vector<double> times;
  for (const FitPoint& point : points) times.push_back(point.y);
  return {above, median(times), kMsPerS / kTokenMsMin};
}

std::vector<PrefillPiece> fit_prefill(const Points& points, bool in_pieces) {
  std::vector<PrefillPiece> out = {piece_of(-1, points)};
  if (!in_pieces) return out;
  double above = -1;
  for (std::size_t i = 0; i <= kPieceEnds.size(); ++i) {
    const double end = i < kPieceEnds.size() ? kPieceEnds[i] : HUGE_VAL;
    Points inside;
    for (const FitPoint& point : points) {
      if (point.x > above && point.x <= end) inside.push_back(point);
    }
    const auto [least, most] = std::ranges::minmax_element(inside, {}, &FitPoint::x);
    if (inside.size() >= kPiecePointsMin && most->x >= kPieceSpreadMin * std::max(least->x, 1.0)) {
      out.push_back(piece_of(above, inside));
    } else {
      out.push_back({above, out.front().fixed_ms, out.front().prefill_tps});
    }
    above = end;
  }
  return out;
}

using Chosen = std::function<bool(const MeasuredRequest&)>;

DeviceFit fit_device(const MeasuredEvidence& evidence, const std::string& device, bool in_pieces,
                     const Chosen& chosen) {
  DeviceFit out{device, {}, {}};
  Points reading;
  std::map<std::string, Points> writing;
  for (const MeasuredRequest& request : evidence.requests) {
    if (request.device != device || !counts(evidence, request) || !chosen(request)) continue;
    if (const auto size = measured_size(request)) {
      reading.push_back(
          {std::max(size->prompt_tokens - size->cached_tokens, 0.0), request.ttft_ms});
    }
    if (request.kind == MeasuredKind::kCase) {
      writing[request.class_name].push_back(
          {static_cast<double>(request.output_tokens - 1), request.total_ms - request.ttft_ms});
    }
  }
  if (!reading.empty()) out.prefill = fit_prefill(reading, in_pieces);
  for (const auto& [name, points] : writing) {
    const double token_ms = std::max(least_absolute_rate(points), kTokenMsMin);
    out.decode.push_back({name, kMsPerS / token_ms});
  }
  return out;
}

SpeedModel fit_all(const MeasuredEvidence& evidence, bool in_pieces, const Chosen& chosen) {
  SpeedModel out;
  for (const MeasuredDevice& device : evidence.devices) {
    out.devices.push_back(fit_device(evidence, device.name, in_pieces, chosen));
  }
  return out;
}

// Prompts are held out, not requests: another round of a prompt would give its time away.
std::set<std::string> held_out_prompts(const MeasuredEvidence& evidence) {
  std::set<std::string> out;
  std::map<std::string, std::set<std::string>> seen;  // by class
  for (const MeasuredRequest& request : evidence.requests) {
    if (!counts(evidence, request)) continue;
    auto& prompts = seen[request.class_name];
    if (!prompts.insert(request.prompt).second) continue;
    if (prompts.size() % kHeldOutEvery == 0) out.insert(request.prompt);
  }
  return out;
}

struct HeldOutError {
  double share = 1;
  std::size_t count = 0;
};

HeldOutError held_out_error(const MeasuredEvidence& evidence, const std::set<std::string>& prompts,
                            bool in_pieces) {
  SpeedModel model = fit_all(evidence, in_pieces, [&](const MeasuredRequest& request) {
    return !prompts.contains(request.prompt);
  });
  model.usable = true;
  std::vector<double> errors;
  for (const MeasuredRequest& request : evidence.requests) {
    if (!counts(evidence, request) || !prompts.contains(request.prompt)) continue;
    if (request.kind != MeasuredKind::kCase || request.total_ms <= 0) continue;
    const auto size = measured_size(request);
    if (!size) continue;
    const auto predicted = model.predict_ms(request.device, request.class_name, *size);
    if (!predicted) continue;
    errors.push_back(std::abs(*predicted - request.total_ms) / request.total_ms);
  }
  return errors.empty() ? HeldOutError{} : HeldOutError{median(errors), errors.size()};
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double least_absolute_rate(std::span<const FitPoint> points) {
  std::vector<WeightedSlope> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].x > 0) slopes.push_back({points[i].y / points[i].x, points[i].x, i});
  }
  return slopes.empty() ? 0 : weighted_median(slopes).slope;
}

FitLine least_absolute_line(std::span<const FitPoint> points) {
  std::vector<double> heights;
  for (const FitPoint& point : points) heights.push_back(point.y);
  FitLine best{median(heights), 0};
  double least = deviation(points, best);
  const std::size_t step = std::max<std::size_t>(points.size() / kStartsMax, 1);
  for (std::size_t start = 0; start < points.size(); start += step) {
    std::size_t pivot = start;
    double reached = HUGE_VAL;
    for (int turn = 0; turn < kTurnsMax; ++turn) {
      FitLine line;
      std::size_t other = 0;
      if (!best_through(points, pivot, line, other)) break;
      const double now = deviation(points, line);
      if (!(now < reached)) break;
      reached = now;
      pivot = other;
      if (now < least) {
        least = now;
        best = line;
      }
    }
  }
  return best;
}

bool DeviceFit::can_predict(std::string_view class_name) const {
  return !prefill.empty() &&
         std::ranges::find(decode, class_name, &ClassRate::class_name) != decode.end();
}

DeviceSpeed DeviceFit::speed(std::string_view class_name, const RequestSize& size) const {
  const double read = size.prompt_tokens - size.cached_tokens;
  const PrefillPiece* piece = prefill.data();
  for (const PrefillPiece& one : prefill) {
    if (one.above < read) piece = &one;
  }
  const auto rate = std::ranges::find(decode, class_name, &ClassRate::class_name);
  return {piece->fixed_ms, piece->prefill_tps, rate->decode_tps, 0};
}

const DeviceFit* SpeedModel::find(std::string_view device) const {
  const auto found = std::ranges::find(devices, device, &DeviceFit::device);
  return found == devices.end() ? nullptr : &*found;
}

std::optional<double> SpeedModel::predict_ms(std::string_view device, std::string_view class_name,
                                             const RequestSize& size) const {
  const DeviceFit* fit = usable ? find(device) : nullptr;
  if (fit == nullptr || !fit->can_predict(class_name)) return std::nullopt;
  return request_ms(fit->speed(class_name, size), size);
}

std::optional<RequestSize> measured_size(const MeasuredRequest& request) {
  if (!request.prompt_tokens) return std::nullopt;
  return RequestSize{static_cast<double>(*request.prompt_tokens),
                     static_cast<double>(request.cached_tokens),
                     static_cast<double>(request.output_tokens)};
}

bool counts(const MeasuredEvidence& evidence, const MeasuredRequest& request) {
  return request.status == 200 && request.kind != MeasuredKind::kControl &&
         !evidence.is_discarded(request.round);
}

SpeedModel fit_speeds(const MeasuredEvidence& evidence) {
  const auto prompts = held_out_prompts(evidence);
  const HeldOutError whole = held_out_error(evidence, prompts, false);
  const HeldOutError pieces = held_out_error(evidence, prompts, true);
  const bool in_pieces = pieces.share < whole.share;
  const HeldOutError& error = in_pieces ? pieces : whole;
  SpeedModel out = fit_all(evidence, in_pieces, [](const MeasuredRequest&) { return true; });
  out.held_out_error = error.share;
  out.held_out = error.count;
  out.usable = error.count > 0 && error.share <= kHeldOutErrorMax;
  return out;
}

}  // namespace layard::gateway
