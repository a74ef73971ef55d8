/// Timing a model on prompts of exact lengths.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/model.h"

namespace layard {

/// A request whose longest prompt row has exactly `length` tokens under `model`, neither padded nor
/// truncated: words of generated support tickets, the same for the same seed everywhere.
/// `questions`: 1 to 64, taken in turn from seven fixed ones.
/// Errors: kInvalidRequest: the length is beyond the checkpoint's max_len, too short for the
/// questions, or not to be met exactly; those of Model::sequence_length.
/// Source: laya-apple 1.7.0 benchmark workload (vocabulary, drawing order, rule).
LAYARD_EXPORT Result<Request> make_request(Model& model, std::int64_t length, int questions,
                                           std::uint64_t seed);

struct BenchmarkOptions {
  /// Tokens of the longest row, one record each; at most 256 lengths.
  std::vector<std::int64_t> lengths = {64, 128, 256, 512};
  int questions = 1;  ///< 1 to 64
  int warmup = 10;    ///< untimed forwards and predictions, 0 to 100,000
  int iters = 50;     ///< timed forwards, then timed predictions, 1 to 100,000
  /// Asked before every call of the model; true ends the run. May be empty.
  std::function<bool()> cancelled = {};
};

/// Opens a model and measures each length: `iters` forward passes (the device alone), then `iters`
/// predictions (request in, answers out). Loading is timed apart; near ties are not rechecked.
/// Calls `record` with one JSON object per length as soon as it is measured, in the published order
/// of fields: tool, layard, model, device_requested, dtype, length, questions, load_s, platform,
/// status ("ok", "skipped: ...", "error: Type: text") and, when ok, backend, device,
/// routing_reason, artifact_revision, buckets, forward and predict ({n, p50_ms, p95_ms, p99_ms,
/// mean_ms, min_ms, max_ms}, percentiles by linear interpolation), samples. `progress(done, total)`
/// counts timed calls over all lengths and may be empty. Returns whether no length failed. Errors:
/// those of Model::open; kInvalidRequest: an option out of range; kCancelled. Source:
/// laya-apple 1.7.0 benchmark (procedure and fields).
LAYARD_EXPORT Result<bool> benchmark(const ModelOptions& model, const BenchmarkOptions& options,
                                     const std::function<void(std::string_view)>& record,
                                     const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace layard
