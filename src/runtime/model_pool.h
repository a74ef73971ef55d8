/// Checkpoints in memory: loaded when first asked for, once however many wait, and dropped again
/// when they take too much room or nobody has asked for long.
///
/// Invariants: one thread loads, one checkpoint at a time, so that loads never add up in memory; a
/// dropped checkpoint lives until the last holder lets go; nothing is called under a lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "layard/error.h"
#include "layard/service.h"
#include "runtime/engine.h"

namespace layard::runtime {

/// One checkpoint that can answer.
struct PooledModel {
  std::unique_ptr<Engine> engine;
  LoadedModel* model = nullptr;  // the engine's; null in tests that run nothing
  std::uint64_t number = 0;      // another one for each load
  std::string result_key;        // what a row's result depends on besides the row
  std::uint64_t bytes = 0;       // of the weights' file
  std::string encoder;
  std::int64_t max_length = 0;
};
using PooledModelPtr = std::shared_ptr<const PooledModel>;

struct ModelPoolOptions {
  /// As in ServiceOptions.
  std::uint64_t loaded_bytes_max = 0;
  double idle_unload_s = 0;
  /// Not owned; outlives the pool.
  const base::Clock* clock = nullptr;
  /// Makes the checkpoint of one of the pool's names, on the pool's own thread.
  std::function<Result<PooledModelPtr>(const std::string& name)> load;
};

/// Thread-safety: all calls may come from any thread.
class ModelPool {
 public:
  /// `names`: distinct; a checkpoint is its index from here on.
  ModelPool(std::vector<std::string> names, ModelPoolOptions options);
  ModelPool(const ModelPool&) = delete;
  ModelPool& operator=(const ModelPool&) = delete;
  /// As close().
  ~ModelPool();

  using Ready = std::function<void(Result<PooledModelPtr>)>;

  /// Gives the checkpoint to `ready`: inside the call when it is loaded, else on the pool's thread
  /// after loading it. What fails to load fails all who wait; the next to ask tries again.
  /// Errors, through `ready`: those of ModelPoolOptions::load; kCancelled after close().
  /// REQUIRES: `index` below the number of names; `ready` does not throw.
  void acquire(std::size_t index, Ready ready);

  /// acquire(), and waits for it. Errors: the load's.
  Status preload(std::size_t index);

  struct Slot {
    ServedModel::State state = ServedModel::State::kUnloaded;
    std::string error;
    PooledModelPtr model;  // of kReady
  };
  Slot slot(std::size_t index) const;

  /// Drops what nobody has asked for in idle_unload_s. The pool's thread does so by itself.
  void drop_idle();

  /// Fails all who wait with kCancelled and ends the pool's thread, after the load it is in.
  void close();

 private:
  struct Entry {
    std::string name;
    ServedModel::State state = ServedModel::State::kUnloaded;
    std::string error;  // of kFailed
    PooledModelPtr model;
    std::int64_t used_ns = 0;
    std::vector<Ready> waiting;
  };

  void work();
  void load(std::unique_lock<std::mutex>& lock, std::size_t index);
  // What no longer has a place; to be destroyed without the lock.
  std::vector<PooledModelPtr> make_room(std::size_t loaded);

  const ModelPoolOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // entries' states, to_load_, closed_
  std::vector<Entry> entries_;
  std::vector<std::size_t> to_load_;  // in order of arrival; each at most once
  bool closed_ = false;
  std::mutex join_mutex_;  // close() may be called by several at once
  std::thread thread_;
};

}  // namespace layard::runtime
