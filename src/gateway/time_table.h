/// Mean times of classes on devices, and how sure they are: a paired bootstrap over prompts.
///
/// A prompt counts where it was measured on every device. Its time on a device is the median of its
/// rounds; where the speed model is usable it is scaled to one size for all devices (that of the
/// traffic, else the prompt's own on the default device), by predicted times: what one device wrote
/// more is not its slowness.
/// Deterministic: fixed seed. Thread-safety: constant after make().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/evidence_file.h"
#include "gateway/route_traffic.h"
#include "gateway/speed_fit.h"

namespace layard::gateway {

/// Samples with replacement.
inline constexpr std::size_t kBootstrapSamples = 2000;

/// A number and its 95 % interval.
struct GainInterval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

class TimeTable {
 public:
  /// Mean times of one sample, milliseconds.
  class Means {
   public:
    Means(const double* values, std::size_t devices) : values_(values), devices_(devices) {}
    double operator()(std::size_t class_index, std::size_t device_index) const {
      return values_[class_index * devices_ + device_index];
    }

   private:
    const double* values_;
    std::size_t devices_;
  };

  /// Classes are the traffic's, devices the evidence's, in their order.
  static TimeTable make(const MeasuredEvidence& evidence, const SpeedModel& model,
                        const RouteTraffic& traffic, std::string_view default_device);

  /// Prompts of a class that count.
  std::size_t prompts(std::size_t class_index) const { return prompts_[class_index]; }
  /// Of all prompts. 0 for a class without prompts.
  Means means() const { return {means_.data(), devices_}; }
  /// `number` of all prompts, and the middle 95 % of it over the samples, widened to hold it.
  GainInterval interval(const std::function<double(const Means&)>& number) const;

 private:
  std::size_t devices_ = 0;
  std::vector<std::size_t> prompts_;
  std::vector<double> means_;    // [class][device]
  std::vector<double> samples_;  // [sample][class][device]
};

}  // namespace layard::gateway
