#include "backends/cpu/thread_pool.h"

#include <algorithm>

#include "base/checks.h"

namespace layard::backends::cpu {
namespace {

// A pause takes 10 to 140 cycles by processor, so this spins for 3 to 50 us.
constexpr int kSpins = 1000;

// A task number beyond every job.
constexpr std::uint32_t kNoTask = 0xFFFFFFFFU;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` is no longer `old`.
void wait_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  const int workers = std::clamp(threads, 1, 1024) - 1;
  workers_.reserve(static_cast<std::size_t>(workers));
  try {
    for (int i = 0; i < workers; ++i) {
      workers_.emplace_back(
          [this, i](const std::stop_token& stop) { work(stop, static_cast<std::size_t>(i) + 1); });
    }
  } catch (...) {
    for (std::jthread& worker : workers_) worker.request_stop();
    job_.fetch_add(1, std::memory_order_release);
    job_.notify_all();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
}

void ThreadPool::work(const std::stop_token& stop, std::size_t thread) {
  std::uint32_t seen = 0;
  while (!stop.stop_requested()) {
    wait_change(job_, seen);
    seen = job_.load(std::memory_order_acquire);
    take_tasks(seen, thread);
  }
}

void ThreadPool::take_tasks(std::uint32_t job, std::size_t thread) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(ticket >> 32U) == job) {
    const auto index = static_cast<std::uint32_t>(ticket);
    const std::uint32_t tasks = tasks_.load(std::memory_order_acquire);
    const Call call = call_.load(std::memory_order_acquire);
    void* object = object_.load(std::memory_order_acquire);
    if (index >= tasks) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      continue;  // `ticket` was reloaded
    }
    call(object, index, thread);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == tasks) done_.notify_one();
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::run_erased(std::size_t tasks, Call call, void* object) {
  LAYARD_CHECK(tasks < (std::size_t{1} << 31U));
  if (workers_.empty() || tasks <= 1) {
    for (std::size_t i = 0; i < tasks; ++i) call(object, i, 0);
    return;
  }
  const std::uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  const auto count = static_cast<std::uint32_t>(tasks);
  done_.store(0, std::memory_order_relaxed);
  // A thread late from the last job must not claim with this job's fields: whoever sees one of
  // them (acquire) also sees the changed ticket, and its claim fails.
  ticket_.store((static_cast<std::uint64_t>(job) << 32U) | kNoTask, std::memory_order_relaxed);
  tasks_.store(count, std::memory_order_release);
  call_.store(call, std::memory_order_release);
  object_.store(object, std::memory_order_release);
  ticket_.store(static_cast<std::uint64_t>(job) << 32U, std::memory_order_release);
  job_.store(job, std::memory_order_release);
  job_.notify_all();
  take_tasks(job, 0);
  for (std::uint32_t done = done_.load(std::memory_order_acquire); done != count;
       done = done_.load(std::memory_order_acquire)) {
    wait_change(done_, done);
  }
}

}  // namespace layard::backends::cpu
