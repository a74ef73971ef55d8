/// Work that would hold up the thread that serves connections: a thread beside it.
///
/// Source: none; ours.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace layard::base {

/// Runs pieces of work in the order they came. Who posts bounds how many there are: here one for
/// each connection at most.
/// Thread-safety: post() from any thread; close() from one at a time.
class SideThread {
 public:
  SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  ~SideThread();  // as close()

  /// After close() the work is dropped. What it throws ends that piece and nothing else.
  void post(std::function<void()> work);
  /// Ends the piece that runs and drops the others.
  void close();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  bool closed_ = false;                        // guarded by mutex_
  std::thread thread_;                         // last: it uses what is above
};

}  // namespace layard::base
