/// Coroutines of the room: a Task runs when it is awaited, on the thread that resumes what it
/// awaits.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/checks.h"

namespace layard::http {

template <class T>
class Task;

namespace detail {

class TaskPromiseBase {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
      return done.promise().awaiting_;
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

  void set_awaiting(std::coroutine_handle<> awaiting) noexcept { awaiting_ = awaiting; }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::coroutine_handle<> awaiting_ = std::noop_coroutine();
  std::exception_ptr exception_;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  void return_value(T value) { value_.emplace(std::move(value)); }
  T result() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void result() const { rethrow(); }
};

}  // namespace detail

/// The rest of a computation and its result. Awaited at most once; what it throws comes out of the
/// `co_await`. Destroyed before its end it ends where it is suspended. Move-only.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().set_awaiting(awaiting);
    return handle_;
  }
  T await_resume() { return handle_.promise().result(); }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}

inline Task<void> detail::TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

/// A coroutine that begins at once and that nobody awaits; it must let no exception out.
struct Detached {
  struct promise_type {  // tidy: allow(Names): the language looks for this name
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { LAYARD_CHECK(false); }
  };
};

/// Lets one coroutine wait for one event at a time. The event may come first.
/// Thread-safety: one thread.
class Signal {
 public:
  void set() {
    set_ = true;
    if (auto waiting = std::exchange(waiting_, nullptr)) waiting.resume();
  }

  auto wait() noexcept {
    struct Awaiter {
      Signal& signal;
      bool await_ready() const noexcept { return signal.set_; }
      void await_suspend(std::coroutine_handle<> waiting) const noexcept {
        signal.waiting_ = waiting;
      }
      void await_resume() const noexcept { signal.set_ = false; }
    };
    return Awaiter{*this};
  }
  /// Forgets a set() that nobody waited for.
  void reset() noexcept { set_ = false; }
  bool has_waiter() const noexcept { return waiting_ != nullptr; }

 private:
  bool set_ = false;
  std::coroutine_handle<> waiting_;
};

}  // namespace layard::http
