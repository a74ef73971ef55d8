/// Sends the requests of a plan to the devices, one at a time, and records what came of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gateway/evidence_file.h"
#include "gateway/measure_plan.h"
#include "http/dial.h"
#include "http/upstream.h"
#include "layard/error.h"

namespace layard::gateway {

/// A device to measure.
struct MeasureTarget {
  MeasuredDevice device;
  http::Upstream upstream;
  http::TlsOptions tls = {};
  std::string api_key;  ///< sent as `Authorization: Bearer`; empty: none
  std::int64_t connect_ms = 5000;
};

struct MeasureSettings {
  std::vector<MeasureTarget> targets;
  MeasurePlan plan;
  int rounds = 3;                     ///< to keep; at most twice as many are made
  double drift_max = 0.03;            ///< share; a round whose control drifts more is discarded
  std::int64_t seed = 1;              ///< of the replies
  std::int64_t request_ms = 600'000;  ///< a request takes at most that long
};

/// Called after each request: the round, requests done in it, and all of it.
using MeasureProgress = std::function<void(int round, std::size_t done, std::size_t total)>;
/// Called after each round with what came of it.
using MeasureRoundEnd = std::function<void(int round, double drift, bool kept)>;

/// The devices, cases, requests and discarded rounds; the profile, date and hash are the caller's.
/// Fewer rounds than asked are kept where too many drift. Blocks, and runs a loop on the calling
/// thread. Texts of prompts are in no message and not in the result.
/// Errors: kBackendUnavailable naming the device and what it did (its status, a failed connection,
/// a stream that broke off): measuring ends there. kInvalidRequest: too many requests for a file.
Result<MeasuredEvidence> run_measurement(const MeasureSettings& settings,
                                         const MeasureProgress& progress,
                                         const MeasureRoundEnd& round_end);

}  // namespace layard::gateway
