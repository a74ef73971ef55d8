/// Decisions for many callers at once: checkpoints loaded on demand, one bounded queue in front of
/// the device, and answers that are those of Model::predict, bit for bit.
///
///   layard::ServiceOptions options;
///   options.checkpoints.environment = layard::Environment::from_process().value();
///   auto service = layard::DecisionService::open(options).value();
///   service->submit(request, [](layard::Result<layard::ServiceAnswer> answer) { ... });
///
/// A server stands on this; it holds no queue of its own. docs/serving.md says what is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"
#include "layard/model.h"
#include "layard/question.h"
#include "layard/router.h"

namespace layard {

/// How to open a service.
struct ServiceOptions {
  /// How each checkpoint is opened; `model` and `lazy` are not read.
  ModelOptions checkpoints;
  /// Who answers requests that name no checkpoint: anything ModelOptions::model may be, or `auto`.
  std::string model = "starter";
  /// Under `auto`: as RouterOptions::default_model.
  std::string default_model = "laya";
  /// Checkpoints that open() loads besides `model` (of `auto`: both it chooses between).
  std::vector<std::string> preload;
  /// Requests that name a checkpoint may load one that was not preloaded, if it is on this machine.
  /// The service never downloads: what is not on this machine is kBackendUnavailable.
  bool load_on_demand = true;
  /// Weights of loaded checkpoints, in bytes of their files; over it the one unused longest is
  /// dropped once it is idle. 0: no bound. A checkpoint alone above it still runs.
  std::uint64_t loaded_bytes_max = 0;
  /// A checkpoint not asked for so long is dropped, and loaded again with the next request; 0:
  /// never.
  double idle_unload_s = 0;

  /// Queued requests, and their prompt tokens, over all callers.
  std::size_t queue_requests_max = 1024;
  std::int64_t queue_tokens_max = 1 << 20;
  /// One forward pass takes whole requests up to so many prompt tokens, at least one request.
  std::int64_t batch_tokens_max = 8192;
  std::size_t batch_requests_max = 64;

  /// Rows' results kept for the same rows again; 0 keeps none (and runs equal requests in flight
  /// separately).
  std::uint64_t answer_cache_bytes_max = 32 << 20;
};

/// One request as a service takes it.
struct ServiceRequest {
  /// `request.model`: a checkpoint's name, alias or repository; any other word, or nothing, means
  /// the service's own model.
  Request request;
  PredictOptions options;
  /// Callers with different names take turns in the queue.
  std::string client;
  /// From submit() on; a request that has not begun by then is failed with kOverloaded, and one
  /// that would not be done is refused at once.
  std::optional<double> deadline_ms;
};

/// What a service answers. `prediction.answers.extra` holds `routing`: print_route's text.
struct ServiceAnswer {
  Prediction prediction;
  Route route;
  /// Every row came from the answer cache or from an equal request in flight.
  bool cached = false;
};

/// A checkpoint that a service knows.
struct ServedModel {
  std::string name;  // what requests may call it; `auto` is one of them where it is the default
  std::string repo;  // empty for a folder
  std::string revision;
  std::string encoder;          // empty until loaded
  std::int64_t max_length = 0;  // 0 until loaded
  bool is_default = false;
  bool is_preloaded = false;
  enum class State : unsigned char { kUnloaded, kLoading, kReady, kFailed };
  State state = State::kUnloaded;
  std::string error;  // of kFailed
};

/// `unloaded`, `loading`, `ready`, `failed`.
LAYARD_EXPORT std::string_view to_string(ServedModel::State state);

/// Counts since open(), and levels now. Every request is in exactly one of queued, running,
/// completed, failed, cancelled, expired, refused.
struct ServiceStats {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;     // by the request's or the checkpoint's own fault
  std::uint64_t cancelled = 0;  // by cancel() or by drain()'s bound
  std::uint64_t expired = 0;    // its deadline passed in the queue
  std::uint64_t refused = 0;    // the queue was full, or the deadline could not be met
  std::uint64_t queued = 0;     // also those that wait for a checkpoint to load
  std::uint64_t running = 0;
  std::uint64_t batches = 0;
  std::uint64_t cached = 0;  // of completed: without a forward pass
  std::uint64_t rows = 0;    // forward passes of one row
  std::uint64_t tokens = 0;  // of those rows
  std::uint64_t cache_bytes = 0;
  std::int64_t queued_tokens = 0;
  /// Upper bounds in seconds and how many completed requests waited at most so long in the queue;
  /// the last bound is infinite. Cumulative, as Prometheus has them.
  std::vector<std::pair<double, std::uint64_t>> queue_wait_s;
  double queue_wait_s_sum = 0;
};

/// Thread-safety: all calls may come from any thread.
class LAYARD_EXPORT DecisionService {
 public:
  /// Loads the preloaded checkpoints. Errors: those of Model::open and LayaRouter::open;
  /// kInvalidRequest naming an option of the service that is out of its range (bounds from 1 to
  /// 1,000,000 requests and 2^40 tokens).
  static Result<std::unique_ptr<DecisionService>> open(const ServiceOptions& options);

  DecisionService(const DecisionService&) = delete;
  DecisionService& operator=(const DecisionService&) = delete;
  /// As drain(0).
  ~DecisionService();

  using Ticket = std::uint64_t;
  using Done = std::function<void(Result<ServiceAnswer>)>;

  /// Lays the request out on the calling thread and queues it. `done` is called exactly once, on
  /// any thread, possibly before submit() returns; it must return soon and must not throw.
  /// Errors, all through `done`: those of Model::predict; kOverloaded (retry_after_ms() says when
  /// to come again), kCancelled (cancelled, or the service is draining), kBackendUnavailable (a
  /// checkpoint that is not on this machine, or that cannot be loaded).
  Ticket submit(ServiceRequest request, Done done);

  /// Takes a queued request out; `done` gets kCancelled. One that runs is let finish and answered.
  /// An unknown or finished ticket does nothing.
  void cancel(Ticket ticket);

  /// Whether a request that arrives now would find room. A server asks before it reads a body.
  bool has_room() const;
  /// When a refused caller should come again: an estimate, from 10 to 60,000.
  std::int64_t retry_after_ms() const;

  /// Where a request would go. Loads nothing. Errors: as LayaRouter::route; kBackendUnavailable.
  Result<Route> route(const Request& request) const;

  /// The default first, then in order of name.
  std::vector<ServedModel> models() const;
  /// Whether every preloaded checkpoint can answer now.
  bool is_ready() const;
  ServiceStats stats() const;

  /// Refuses new requests and finishes what is queued, for at most `bound_ms`; what is left then is
  /// failed with kCancelled. Returns whether all was finished. May be called again with a smaller
  /// bound while it waits.
  bool drain(double bound_ms);

 private:
  struct Impl;
  explicit DecisionService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace layard
