/// Evidence of devices whose speeds are known.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/python_random.h"
#include "gateway/evidence_file.h"
#include "gateway/route_gain.h"

namespace layard::testing {

struct SimulatedDevice {
  std::string name;
  double fixed_ms = 80;
  double prefill_tps = 300;
  /// Tokens a second of code, prose, short and long_doc.
  double decode_tps[4] = {20, 20, 20, 20};
  double resident_bytes = 0;
};

inline constexpr const char* kSimulatedClasses[] = {"code", "prose", "short", "long_doc"};

struct SimulatedFleet {
  std::vector<SimulatedDevice> devices;
  /// Mean prompt and output tokens of the four classes.
  double prompt_tokens[4] = {40, 30, 20, 2048};
  double output_tokens[4] = {201, 201, 17, 101};
  std::size_t per_class = 24;
  int rounds = 3;
  double noise = 0;     ///< of a time, at most, as a share
  double spread = 0.3;  ///< of the lengths about their mean, at most, as a share
  std::string date = "2026-11-20";

  gateway::MeasuredEvidence evidence() const {
    gateway::MeasuredEvidence out;
    out.profile = "simulated";
    out.date = date;
    out.model_sha256 = std::string(64, '5');
    for (const SimulatedDevice& device : devices) {
      out.devices.push_back({device.name, "http://127.0.0.1:9001", "chat", device.resident_bytes});
    }
    base::PythonRandom random(1);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < per_class; ++i) add_case(k, i, random, out);
    }
    for (const double tokens : {64, 512, 2048, 8192}) {
      add(gateway::MeasuredKind::kLength, 0, "length-" + std::to_string(tokens), {tokens, 0, 1},
          random, out);
    }
    return out;
  }

 private:
  void add_case(std::size_t k, std::size_t i, base::PythonRandom& random,
                gateway::MeasuredEvidence& out) const {
    const std::string id = std::string(kSimulatedClasses[k]) + "-" + std::to_string(i);
    // Pairs of lengths about the mean, so that the mean is kept.
    const double t = per_class == 1 ? 0 : 2.0 * double(i) / double(per_class - 1) - 1;
    const double prompt = std::round(prompt_tokens[k] * (1 + spread * t));
    const double output = std::round(output_tokens[k] * (1 - spread * t));
    out.cases.push_back({id, kSimulatedClasses[k], static_cast<std::int64_t>(4 * prompt)});
    add(gateway::MeasuredKind::kCase, k, id, {prompt, 0, output}, random, out);
  }

  void add(gateway::MeasuredKind kind, std::size_t k, const std::string& id,
           const gateway::RequestSize& size, base::PythonRandom& random,
           gateway::MeasuredEvidence& out) const {
    for (int round = 1; round <= rounds; ++round) {
      for (const SimulatedDevice& device : devices) {
        const gateway::DeviceSpeed speed{device.fixed_ms, device.prefill_tps, device.decode_tps[k],
                                         0};
        gateway::RequestSize first = size;
        first.output_tokens = 1;
        const double factor = 1 + noise * (2 * random.uniform() - 1);
        gateway::MeasuredRequest request;
        request.kind = kind;
        if (kind == gateway::MeasuredKind::kCase) request.class_name = kSimulatedClasses[k];
        request.device = device.name;
        request.prompt = id;
        request.round = round;
        request.position = static_cast<int>(out.requests.size());
        request.ttft_ms = factor * gateway::request_ms(speed, first);
        request.total_ms = factor * gateway::request_ms(speed, size);
        request.prompt_tokens = static_cast<std::int64_t>(size.prompt_tokens);
        request.output_tokens = static_cast<std::int64_t>(size.output_tokens);
        out.requests.push_back(std::move(request));
      }
    }
  }
};

}  // namespace layard::testing
