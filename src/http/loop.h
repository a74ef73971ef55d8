/// One thread's sockets and timers: the seam between the room's logic and Asio. Tests put scripted
/// streams and a clock that is moved by hand behind the same interfaces (testing/fake_loop.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::http {

enum class IoStatus : std::uint8_t {
  kOk,
  kEnd,     // reading: the peer sends nothing more
  kFailed,  // reset by the peer, or closed by us
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t bytes = 0;
};

/// Where an operation reports its end. Called on the loop's thread, never from within the call that
/// began the operation.
class IoCompletion {
 public:
  virtual void completed(IoResult result) = 0;

 protected:
  ~IoCompletion() = default;
};

/// One accepted connection.
/// Ownership: buffers and completions must live until the operation completed, the stream too.
/// Thread-safety: used on its loop's thread only.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Reads at least one byte. At most one read is outstanding.
  virtual void read_some(std::span<char> into, IoCompletion& done) = 0;
  /// Writes at least one of `bytes`. At most one write is outstanding.
  virtual void write_some(std::string_view bytes, IoCompletion& done) = 0;
  /// Says that nothing more will be sent.
  virtual void shutdown_send() = 0;
  /// Ends the connection; what is outstanding completes with kFailed. May be called again.
  virtual void close() = 0;

  /// The peer's address without its port.
  virtual std::string peer_address() const = 0;
  virtual bool peer_is_loopback() const = 0;
};

/// Runs calls and completions one after another on one thread.
class Loop {
 public:
  virtual ~Loop() = default;

  /// Runs `call` soon. From any thread.
  virtual void post(std::function<void()> call) = 0;
  /// Runs `call` on the loop's thread when the time has passed, unless the loop ends before.
  virtual void call_after(std::int64_t wait_ms, std::function<void()> call) = 0;
  virtual std::int64_t now_ns() const = 0;
};

/// Accepts connections until it is destroyed.
class Listener {
 public:
  virtual ~Listener() = default;  // on the thread of the loop that accepts, or when none runs
  virtual unsigned port() const = 0;
};

/// A loop with a socket layer that somebody runs.
class SocketLoop : public Loop {
 public:
  static std::unique_ptr<SocketLoop> create();

  /// Runs until finish(); the thread that calls it is the loop's thread.
  virtual void run() = 0;
  /// Ends run(). What was posted and did not run yet is dropped. From any thread.
  virtual void finish() = 0;
};

/// What to do with connections as they come.
struct AcceptOptions {
  std::string host;  // an address, or `localhost` for 127.0.0.1
  unsigned port = 0;
  /// The loops that connections are dealt to in turn.
  std::vector<SocketLoop*> loops;
  /// On the thread of the loop that accepts: a connection of `loops[index]`, which nobody uses yet.
  std::function<void(std::size_t index, std::unique_ptr<Stream> stream)> on_accept;
  /// No connection could be taken (out of descriptors, say); accepting goes on after a pause.
  std::function<void()> on_error;
};

/// Listens, and accepts on the thread of `options.loops[0]`.
/// Errors: kInvalidRequest when the host is no address, kIo when it cannot be listened on.
Result<std::unique_ptr<Listener>> listen(AcceptOptions options);

}  // namespace layard::http
