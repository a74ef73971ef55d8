#include "runtime/model_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <iterator>
#include <optional>
#include <utility>

#include "base/checks.h"

namespace layard::runtime {
namespace {

using State = ServedModel::State;

// How often idle checkpoints are looked for, at the least.
constexpr std::chrono::milliseconds kIdleCheck{500};

Error closed_error() {
  return {ErrorCode::kCancelled, "the service is closing; no checkpoint is loaded any more"};
}

// A loader must not throw, but memory can run out in it.
Result<PooledModelPtr> guarded_load(const ModelPoolOptions& options, const std::string& name) {
  try {
    return options.load(name);
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, "loading " + name + ": " + error.what()};
  }
}

}  // namespace

ModelPool::ModelPool(std::vector<std::string> names, ModelPoolOptions options)
    : options_(std::move(options)) {
  for (std::string& name : names) {
    entries_.emplace_back();
    entries_.back().name = std::move(name);
  }
  thread_ = std::thread([this] { work(); });
}

ModelPool::~ModelPool() { close(); }

void ModelPool::acquire(std::size_t index, Ready ready) {
  LAYARD_CHECK(index < entries_.size());
  std::optional<Result<PooledModelPtr>> now;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[index];
    entry.used_ns = options_.clock->now_ns();
    if (closed_) {
      now = closed_error();
    } else if (entry.state == State::kReady) {
      now = entry.model;
    } else {
      entry.waiting.push_back(std::move(ready));
      if (entry.state != State::kLoading) to_load_.push_back(index);
      entry.state = State::kLoading;
    }
  }
  if (now.has_value()) {
    ready(*std::move(now));
  } else {
    changed_.notify_all();
  }
}

Status ModelPool::preload(std::size_t index) {
  // Shared: whoever sets it may still be inside when the waiting call has gone on.
  const auto loaded = std::make_shared<std::promise<Status>>();
  acquire(index, [loaded](const Result<PooledModelPtr>& result) {
    loaded->set_value(result.ok() ? Status() : Status(result.error()));
  });
  return loaded->get_future().get();
}

void ModelPool::load(std::unique_lock<std::mutex>& lock, std::size_t index) {
  const std::string name = entries_[index].name;
  lock.unlock();
  Result<PooledModelPtr> loaded = guarded_load(options_, name);
  lock.lock();
  Entry& entry = entries_[index];
  entry.state = loaded.ok() ? State::kReady : State::kFailed;
  entry.error = loaded.ok() ? "" : loaded.error().message;
  entry.used_ns = options_.clock->now_ns();
  if (loaded.ok()) entry.model = *loaded;
  std::vector<Ready> waiting = std::exchange(entry.waiting, {});
  std::vector<PooledModelPtr> dropped = make_room(index);
  lock.unlock();
  changed_.notify_all();
  dropped.clear();
  for (Ready& ready : waiting) ready(loaded);
  waiting.clear();
  lock.lock();
}

std::vector<PooledModelPtr> ModelPool::make_room(std::size_t loaded) {
  std::vector<PooledModelPtr> dropped;
  if (options_.loaded_bytes_max == 0) return dropped;
  for (;;) {
    std::uint64_t bytes = 0;
    Entry* oldest = nullptr;
    for (Entry& entry : entries_) {
      if (entry.state != State::kReady) continue;
      bytes += entry.model->bytes;
      if (&entry == &entries_[loaded]) continue;
      if (oldest == nullptr || entry.used_ns < oldest->used_ns) oldest = &entry;
    }
    if (bytes <= options_.loaded_bytes_max || oldest == nullptr) return dropped;
    oldest->state = State::kUnloaded;
    dropped.push_back(std::exchange(oldest->model, nullptr));
  }
}

ModelPool::Slot ModelPool::slot(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  const Entry& entry = entries_[index];
  return {entry.state, entry.error, entry.model};
}

void ModelPool::drop_idle() {
  if (options_.idle_unload_s <= 0) return;
  std::vector<PooledModelPtr> dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  const auto limit_ns = static_cast<std::int64_t>(options_.idle_unload_s * 1e9);
  const std::int64_t now_ns = options_.clock->now_ns();
  for (Entry& entry : entries_) {
    if (entry.state != State::kReady || now_ns - entry.used_ns < limit_ns) continue;
    entry.state = State::kUnloaded;
    dropped.push_back(std::exchange(entry.model, nullptr));
  }
}

void ModelPool::work() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (!to_load_.empty()) {
      const std::size_t index = to_load_.front();
      to_load_.erase(to_load_.begin());
      load(lock, index);
      continue;
    }
    if (options_.idle_unload_s <= 0) {
      changed_.wait(lock, [&] { return closed_ || !to_load_.empty(); });
      continue;
    }
    changed_.wait_for(lock, kIdleCheck, [&] { return closed_ || !to_load_.empty(); });
    lock.unlock();
    drop_idle();
    lock.lock();
  }
}

void ModelPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  {
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }
  std::vector<Ready> waiting;
  {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
      std::ranges::move(entry.waiting, std::back_inserter(waiting));
      entry.waiting.clear();
      if (entry.state == State::kLoading) entry.state = State::kUnloaded;
    }
    to_load_.clear();
  }
  for (Ready& ready : waiting) ready(closed_error());
}

}  // namespace layard::runtime
