/// A value that another thread brings to a coroutine on a loop: the answer of a model, a place in
/// a queue.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "http/loop.h"
#include "http/task.h"

namespace layard::gateway {

/// Made by make_shared; whoever brings the value keeps it too, and may do so after nobody waits any
/// more and the loop is gone.
/// Thread-safety: bring() and cancel() from any thread; the rest on the loop's.
template <class T>
class Arrival : public std::enable_shared_from_this<Arrival<T>> {
 public:
  explicit Arrival(http::Loop& loop) : loop_(&loop) {}

  /// The value is there. The first that is brought counts.
  void bring(T value) {
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr || value_.has_value()) return;
    value_.emplace(std::move(value));
    wake_locked();
  }
  /// Nobody needs the value any more: wait() gives nothing.
  void cancel() {
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr) return;
    wake_locked();
  }

  /// What whoever is to bring the value holds: dropped without bring(), it is as cancel().
  std::shared_ptr<void> promise() {
    const auto self = this->shared_from_this();
    return {self.get(), [self](void*) { self->cancel(); }};
  }

  /// Waits for bring(), for cancel(), or for `limit_ms` to pass (0: no limit); the value, or
  /// nothing. Called once. REQUIRES: the loop runs until it is done.
  http::Task<std::optional<T>> wait(std::int64_t limit_ms) {
    if (limit_ms > 0) {
      loop_->call_after(limit_ms, [weak = this->weak_from_this()] {
        if (const auto self = weak.lock()) self->cancel();
      });
    }
    co_await arrived_.wait();
    std::optional<T> out;
    const std::lock_guard lock(mutex_);
    out.swap(value_);
    loop_ = nullptr;
    co_return out;
  }

 private:
  void wake_locked() {
    if (std::exchange(posted_, true)) return;
    loop_->post([self = this->shared_from_this()] { self->arrived_.set(); });
  }

  http::Signal arrived_;  // the loop's thread only
  std::mutex mutex_;
  // Guarded by mutex_:
  http::Loop* loop_;  // null once nobody waits
  std::optional<T> value_;
  bool posted_ = false;
};

}  // namespace layard::gateway
