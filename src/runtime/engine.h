/// One checkpoint on one device, and the three steps of a decision: prompt rows, forward, answers.
/// Model takes them at once; DecisionService queues between them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "encoder/rows.h"
#include "layard/model.h"
#include "runtime/devices.h"
#include "runtime/loaded_model.h"
#include "runtime/prepare.h"

namespace layard::runtime {

/// A number no other request of this process has.
std::int64_t next_request_id();

/// What reading the request gave to say about it.
void add_request_warnings(const Request& request, AnswerSet& answers);

/// One request on its way through an engine. Movable: its rows are views of memory that moves
/// along.
struct DecisionJob {
  /// REQUIRES: outlives the job.
  const Request* request = nullptr;
  /// Where the request itself names no policy, or no orders.
  Layout layout = {};
  PreparedRequest prepared;
  /// Passes in order, their rows in order; filled by prepare(), as is what follows.
  std::vector<encoder::ModelRow> rows;
  std::vector<encoder::RowOutput> outputs;  // one a row
  std::vector<std::uint8_t> rechecked;      // one a row: 1 if float32 decided a near tie
  /// Rows that run() is to run, ascending; all at first. Whoever has a row's output takes it out.
  std::vector<std::size_t> pending;
  std::optional<Error> error;  // of the first step that failed
  double device_ms = 0;        // of the forward passes it shared
};

/// Thread-safety: all calls may come from any thread; forward passes run one at a time.
class Engine {
 public:
  /// Loads nothing. Errors: kInvalidRequest (an option out of range), kBackendUnavailable (kernels
  /// that this machine does not have).
  static Result<std::unique_ptr<Engine>> open(const ModelOptions& options);

  const ModelOptions& options() const { return options_; }

  /// The checkpoint; resolved, loaded and checked with the first call, once however many wait.
  /// A call after a failed one tries again. The pointer lives as long as the engine.
  /// Errors: as Model::open.
  Result<LoadedModel*> ensure_loaded();

  /// Lays out the rows of job.request, or sets job.error. REQUIRES: `model` is this engine's.
  static void prepare(const LoadedModel& model, DecisionJob& job);

  /// Runs the pending rows of all jobs together, and near ties again in float32 where that is on;
  /// fills outputs or sets the errors. Jobs with an error are passed over; each row's result is
  /// what it would be alone, bit for bit. REQUIRES: as prepare.
  void run(LoadedModel& model, std::span<DecisionJob* const> jobs);

  /// The answers, with the raw rows if asked for, and what ran where (request_id and latency are
  /// the caller's). Errors: the job's; kInternal (a number that is not finite).
  Result<Prediction> finish(const LoadedModel& model, const DecisionJob& job, bool raw) const;

  /// Forward passes of rows, without near ties being decided again. Errors: the session's.
  Status run_rows(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                  std::span<encoder::RowOutput> outputs);

  /// Says once, through the options' log, what readers of the answers should know of the format.
  void warn_about_format(const LoadedModel& model);

  /// The guide's info block, as JSON.
  std::string info_json();

 private:
  explicit Engine(const ModelOptions& options) : options_(options) {}
  bool rechecks(const LoadedModel& model) const;
  void recheck_ties(LoadedModel& model, std::span<DecisionJob* const> jobs);
  Status run_exactly(LoadedModel& model, std::span<const encoder::ModelRow> rows,
                     std::span<encoder::RowOutput> outputs);
  RuntimeInfo runtime_info(const LoadedModel& model, const DecisionJob& job) const;

  ModelOptions options_;
  DeviceChoice device_;
  std::mutex mutex_;  // guards `loaded_` and forward passes
  std::unique_ptr<LoadedModel> loaded_;
  base::RealClock clock_;
  std::atomic<bool> format_warned_ = false;
};

}  // namespace layard::runtime
