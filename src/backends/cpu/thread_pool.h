/// A few threads that run the tasks of one job at a time together with the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

namespace layard::backends::cpu {

/// Invariants: a job's tasks are claimed in order, each runs exactly once, and run() returns after
/// the last has finished; which thread runs a task is left to chance, so tasks must not care.
/// Idle threads spin for at most about 50 us (kSpins pauses) and then sleep. Nothing is allocated
/// after construction.
/// Thread-safety: one caller of run() at a time; tasks must not call run().
class ThreadPool {
 public:
  /// `threads` counts the caller: 1 runs everything inline. Clamped to [1, 1024].
  /// Throws std::system_error when the system gives no more threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(index, thread) for every index in [0, tasks), thread in [0, threads()).
  /// Bounds: tasks < 2^31.
  template <class Task>
  void run(std::size_t tasks, Task&& task) {
    using Plain = std::remove_reference_t<Task>;
    run_erased(
        tasks,
        [](void* object, std::size_t index, std::size_t thread) {
          (*static_cast<Plain*>(object))(index, thread);
        },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

 private:
  using Call = void (*)(void* object, std::size_t index, std::size_t thread);

  void run_erased(std::size_t tasks, Call call, void* object);
  void work(const std::stop_token& stop, std::size_t thread);
  void take_tasks(std::uint32_t job, std::size_t thread);

  // The job: written by run() before `ticket_`, read after it. A ticket is the job's number (high
  // half) and the next unclaimed task (low half); a claim succeeds only for the current job, and
  // run() does not return, so the fields do not change, before every claimed task has finished.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> tasks_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> object_{nullptr};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<std::uint32_t> job_{0};  // what idle threads wait on
  std::vector<std::jthread> workers_;
};

}  // namespace layard::backends::cpu
