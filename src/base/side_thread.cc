#include "base/side_thread.h"

#include <utility>

namespace layard::base {

SideThread::SideThread() : thread_([this] { run(); }) {}

SideThread::~SideThread() { close(); }

void SideThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void SideThread::close() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock, with all they hold
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_one();
  dropped.clear();
  if (thread_.joinable()) thread_.join();
}

void SideThread::run() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (closed_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (...) {
      // What it held goes with it, and so whoever waits learns.
    }
  }
}

}  // namespace layard::base
