/// All connections of one loop: their beginning, their limits and their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "http/connection.h"
#include "http/loop.h"
#include "http/server_state.h"

namespace layard::http {

/// Thread-safety: its loop's thread only. Destroyed when it is empty, or when its loop runs no
/// more.
class ConnectionSet {
 public:
  /// `on_drained` is called once, when the set is empty after drain().
  ConnectionSet(ServerState& state, Loop& loop, std::function<void()> on_drained);
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  /// Serves a connection that was counted in ServerState::connections, or refuses one that was
  /// counted in ServerState::refusing; takes it off the count at its end.
  void serve(std::unique_ptr<Stream> stream);
  void refuse(std::unique_ptr<Stream> stream);

  /// Ends every connection as soon as it has no request under way.
  void drain();
  /// Ends every connection now.
  void force();

  std::size_t size() const noexcept { return connections_.size(); }

 private:
  using Id = std::uint64_t;

  Connection& add(std::unique_ptr<Stream> stream, Id& id);
  void ended(Id id);
  void for_each(const std::function<void(Connection&)>& call);
  void tick_later();
  void tick();

  ServerState& state_;
  Loop& loop_;
  std::function<void()> on_drained_;
  const std::int64_t tick_ms_;
  Id next_id_ = 0;
  std::unordered_map<Id, std::unique_ptr<Connection>> connections_;
  bool ticking_ = false;
  bool draining_ = false;
};

/// How often limits are looked at: a tenth of the shortest of them, 10 to 500 ms.
std::int64_t tick_ms_of(const ServerOptions& options);

}  // namespace layard::http
