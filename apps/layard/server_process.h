/// What the commands that serve have in common as processes: signals and the lines on stderr.
#pragma once

#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "server/serve_options.h"

namespace layard::cli {

/// SIGTERM, SIGINT and SIGHUP, taken by a thread of their own. The first of the first two stops the
/// server, the second cuts what is still running; who is not gone some time after that is ended.
/// SIGHUP reloads where there is something to reload, else it stops. Thread-safety: any thread.
class SignalWatch {
 public:
  /// Threads that are made later leave the signals to the watch.
  SignalWatch();

  /// What a signal calls, on the watch's thread; null: before there is a server, a signal ends the
  /// process.
  void set_stop(std::function<void()> stop);
  void set_reload(std::function<void()> reload);

 private:
  void watch(const std::stop_token& stop);
  bool reloaded();

  sigset_t signals_{};
  std::mutex mutex_;
  std::function<void()> stop_;    // guarded by mutex_
  std::function<void()> reload_;  // guarded by mutex_
  std::jthread thread_;           // last: it uses what is above
};

/// Lines of a server go to stderr, with time and level, at `level` and above.
void set_server_log(base::LogFormat format, const std::string& level);
/// A LogFunction that writes there.
void write_server_line(std::string_view level, std::string_view line);

}  // namespace layard::cli
