/// One connection to an upstream: what is written, what was read, and its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "http/stream_reader.h"
#include "http/task.h"

namespace layard::http {

/// Whoever has it must call retire() in the end, or hand it to somebody who does.
/// Thread-safety: its loop's thread only.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  /// `on_retired` is called when the connection is closed and nothing of it is under way.
  ClientConnection(std::unique_ptr<Stream> stream, std::string origin,
                   std::function<void()> on_retired);
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  const std::string& origin() const noexcept { return origin_; }
  StreamReader& reader() noexcept { return reader_; }

  /// Writes everything, calling `on_progress` whenever the peer's side took some of it; false when
  /// the connection broke. One call at a time; the views must live until the task is done.
  Task<bool> write_all(std::string_view bytes, std::function<void()> on_progress);
  /// Bytes that the operating system took; they may have reached the peer.
  std::uint64_t bytes_written() const noexcept { return bytes_written_; }

  /// Closes the socket now; what is under way fails. May be called again.
  void close();
  /// Closes, and lives until what is under way has ended. May be called again.
  /// REQUIRES: nobody waits for the reader.
  void retire();

  // While it is kept between two requests.
  std::int64_t kept_since_ns = 0;

 private:
  Detached settle(std::shared_ptr<ClientConnection> self);

  const std::unique_ptr<Stream> stream_;
  const std::string origin_;
  std::function<void()> on_retired_;
  StreamReader reader_;
  std::uint64_t bytes_written_ = 0;
  bool writing_ = false;
  bool closed_ = false;
  bool retired_ = false;
  Signal write_ended_;
};

}  // namespace layard::http
