/// What all exchanges of a client share: options, the connections that are open, those that are
/// kept for the next request, and the clock that ends waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "http/client_connection.h"
#include "http/client_types.h"
#include "http/dial.h"
#include "http/loop.h"
#include "http/task.h"

namespace layard::http {

/// Something whose waits have limits.
class TimedExchange {
 public:
  /// Acts on a limit that has passed; may leave the state.
  virtual void check_time(std::int64_t now_ns) = 0;
  /// The client shuts down.
  virtual void cancel() = 0;

 protected:
  ~TimedExchange() = default;
};

/// Thread-safety: the loop's thread only.
class ClientState : public std::enable_shared_from_this<ClientState> {
 public:
  ClientState(Loop& loop_, std::unique_ptr<Dialer> dialer_, const ClientOptions& options_);

  Loop& loop;
  const std::unique_ptr<Dialer> dialer;
  const ClientOptions options;

  /// Ticks reach the exchange until it leaves, or is no more.
  void enter(const std::shared_ptr<TimedExchange>& exchange);
  void leave(const TimedExchange& exchange);

  /// Whether another connection may be opened; counts it when so. Every true needs an adopt() or a
  /// dial_failed(). With too many open, a kept one is given up for it.
  bool may_dial();
  void dial_failed();
  std::shared_ptr<ClientConnection> adopt(std::unique_ptr<Stream> stream, std::string origin);

  /// The connection to `origin` that was kept last, still open as far as is known; or nothing.
  std::shared_ptr<ClientConnection> take_kept(const std::string& origin);
  /// Keeps the connection for the next request, or retires it when there are enough.
  void keep(std::shared_ptr<ClientConnection> connection);

  std::size_t open_count() const noexcept { return open_; }
  std::size_t kept_count() const noexcept { return kept_count_; }
  bool shut() const noexcept { return shut_; }

  /// Ends every exchange with kCancelled, and what is kept. May be called again.
  void shut_down();
  /// Until no connection is open. REQUIRES: shut_down() was called, and nobody else waits.
  Task<void> settled();

 private:
  using Kept = std::vector<std::shared_ptr<ClientConnection>>;

  std::vector<std::shared_ptr<TimedExchange>> living_exchanges();
  void drop_kept(const ClientConnection* connection);
  void retire_oldest_kept();
  void expire_kept(std::int64_t now_ns);
  void closed_one();
  void tick_later();
  void tick();

  // The keys are only compared; one whose exchange is no more goes at the next tick.
  std::unordered_map<const TimedExchange*, std::weak_ptr<TimedExchange>> exchanges_;
  std::map<std::string, Kept> kept_;  // by origin, the newest last; no list is empty
  std::size_t kept_count_ = 0;
  std::size_t open_ = 0;  // being opened, in use, kept, or closing
  bool ticking_ = false;
  bool shut_ = false;
  Signal closed_;
};

}  // namespace layard::http
