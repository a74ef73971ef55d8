/// One request's way from the connection to a handler's thread and its answer's way back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "http/message.h"
#include "http/server.h"
#include "http/task.h"

namespace layard::http {

/// Shared by the connection, on the loop's thread, and the Responder, on any.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// `loop` must outlive the call of leave().
  Exchange(Loop& loop, std::size_t queue_bytes_max)
      : queue_bytes_max_(queue_bytes_max), cancelled_(stop_.get_token()), loop_(&loop) {}

  // The handler's side: what Responder says. Thread-safety: any thread.
  const std::stop_token& cancelled() const { return cancelled_; }
  void send(Response response);
  void start(Response head);
  WriteStatus write(std::string_view bytes);
  void on_writable(std::function<void()> callback);
  void finish();
  void cut();
  /// The responder is gone: an answer that was not begun becomes 500, one that was is cut.
  void abandon();

  // The connection's side. Thread-safety: the loop's thread only.
  /// What the handler said since the last call.
  struct Batch {
    std::optional<Response> whole;
    std::optional<Response> head;
    std::string bytes;
    bool finished = false;
    bool cut = false;
    bool abandoned = false;

    bool empty() const noexcept {
      return !whole && !head && bytes.empty() && !finished && !cut && !abandoned;
    }
  };
  Batch take();
  /// Awaits the next reason to call take(), or leave().
  auto wait() noexcept { return signal_.wait(); }
  /// The bytes of the last batch are with the client's kernel.
  void written();
  /// The connection is done with the exchange. `cancel` tells the handler that nobody waits for
  /// its answer. Wakes wait(). It may be called again.
  void leave(bool cancel);
  bool left() const noexcept { return left_; }

 private:
  enum class Phase : unsigned char { kOpen, kStreaming, kOver };

  void wake_locked();
  void wake();

  const std::size_t queue_bytes_max_;
  std::stop_source stop_;
  const std::stop_token cancelled_;
  Signal signal_;      // the loop's thread only
  bool left_ = false;  // the loop's thread only

  std::mutex mutex_;
  // Guarded by mutex_:
  Loop* loop_;  // null once the connection left
  Phase phase_ = Phase::kOpen;
  bool wake_posted_ = false;
  std::size_t bytes_in_flight_ = 0;  // taken and not yet written
  Batch batch_;
  std::function<void()> writable_;
};

}  // namespace layard::http
