#include "gateway/time_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/python_random.h"

namespace layard::gateway {
namespace {

constexpr std::uint64_t kSeed = 20260928;
constexpr double kTail = 0.025;

// Of one prompt on one device.
struct Rounds {
  std::vector<double> total_ms;
  std::vector<double> prompt_tokens;
  std::vector<double> cached_tokens;
  std::vector<double> output_tokens;
  bool sizes_known = true;

  RequestSize size() const {
    return {median(prompt_tokens), median(cached_tokens), median(output_tokens)};
  }
};

using PromptRounds = std::map<std::string, Rounds>;  // by device

std::map<std::string, PromptRounds> rounds_of(const MeasuredEvidence& evidence,
                                              const std::string& class_name) {
  std::map<std::string, PromptRounds> out;
  for (const MeasuredRequest& request : evidence.requests) {
    if (request.kind != MeasuredKind::kCase || request.class_name != class_name) continue;
    if (!counts(evidence, request)) continue;
    Rounds& rounds = out[request.prompt][request.device];
    rounds.total_ms.push_back(request.total_ms);
    rounds.sizes_known &= request.prompt_tokens.has_value();
    rounds.prompt_tokens.push_back(static_cast<double>(request.prompt_tokens.value_or(0)));
    rounds.cached_tokens.push_back(static_cast<double>(request.cached_tokens));
    rounds.output_tokens.push_back(static_cast<double>(request.output_tokens));
  }
  return out;
}

// By how much a time is to be scaled from the size it was measured at to `wanted`.
double scale_of(const SpeedModel& model, const std::string& device, const std::string& class_name,
                const Rounds& rounds, const std::optional<RequestSize>& wanted) {
  if (!wanted || !rounds.sizes_known) return 1;
  const auto there = model.predict_ms(device, class_name, *wanted);
  const auto here = model.predict_ms(device, class_name, rounds.size());
  return there && here && *here > 0 && *there > 0 ? *there / *here : 1;
}

// [prompt][device] of the prompts that every device has.
std::vector<std::vector<double>> times_of(const MeasuredEvidence& evidence, const SpeedModel& model,
                                          const ClassTraffic& traffic,
                                          std::string_view default_device) {
  std::vector<std::vector<double>> out;
  for (const auto& [prompt, devices] : rounds_of(evidence, traffic.class_name)) {
    if (devices.size() != evidence.devices.size()) continue;
    std::optional<RequestSize> wanted = traffic.size;
    const auto own = devices.find(std::string(default_device));
    if (!wanted && own != devices.end() && own->second.sizes_known) wanted = own->second.size();
    std::vector<double>& row = out.emplace_back();
    for (const MeasuredDevice& device : evidence.devices) {
      const Rounds& rounds = devices.at(device.name);
      row.push_back(median(rounds.total_ms) *
                    scale_of(model, device.name, traffic.class_name, rounds, wanted));
    }
  }
  return out;
}

}  // namespace

TimeTable TimeTable::make(const MeasuredEvidence& evidence, const SpeedModel& model,
                          const RouteTraffic& traffic, std::string_view default_device) {
  TimeTable out;
  const std::size_t devices = evidence.devices.size();
  const std::size_t width = traffic.classes.size() * devices;
  out.devices_ = devices;
  out.means_.assign(width, 0.0);
  out.samples_.assign(kBootstrapSamples * width, 0.0);
  base::PythonRandom random(kSeed);
  for (std::size_t c = 0; c < traffic.classes.size(); ++c) {
    const auto times = times_of(evidence, model, traffic.classes[c], default_device);
    out.prompts_.push_back(times.size());
    if (times.empty()) continue;
    const auto share = 1.0 / static_cast<double>(times.size());
    for (const auto& row : times) {
      for (std::size_t d = 0; d < devices; ++d) out.means_[c * devices + d] += share * row[d];
    }
    for (std::size_t b = 0; b < kBootstrapSamples; ++b) {
      double* into = &out.samples_[b * width + c * devices];
      for (std::size_t i = 0; i < times.size(); ++i) {
        const auto& row = times[random.below(static_cast<std::uint32_t>(times.size()))];
        for (std::size_t d = 0; d < devices; ++d) into[d] += share * row[d];
      }
    }
  }
  return out;
}

GainInterval TimeTable::interval(const std::function<double(const Means&)>& number) const {
  const double mean = number(means());
  std::vector<double> values;
  values.reserve(kBootstrapSamples);
  const std::size_t width = means_.size();
  for (std::size_t b = 0; b < kBootstrapSamples; ++b) {
    values.push_back(number(Means(&samples_[b * width], devices_)));
  }
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * (kBootstrapSamples - 1)))];
  };
  return {mean, std::min(at(kTail), mean), std::max(at(1 - kTail), mean)};
}

}  // namespace layard::gateway
