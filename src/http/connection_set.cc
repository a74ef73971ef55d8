#include "http/connection_set.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace layard::http {

std::int64_t tick_ms_of(const ServerOptions& options) {
  const auto shortest = std::min(
      {options.idle_ms, options.head_ms, options.body_ms, options.write_ms, options.linger_ms});
  return std::clamp<std::int64_t>(shortest / 10, 10, 500);
}

ConnectionSet::ConnectionSet(ServerState& state, Loop& loop, std::function<void()> on_drained)
    : state_(state),
      loop_(loop),
      on_drained_(std::move(on_drained)),
      tick_ms_(tick_ms_of(state.options)) {}

Connection& ConnectionSet::add(std::unique_ptr<Stream> stream, Id& id) {
  id = next_id_++;
  auto connection = std::make_unique<Connection>(state_, loop_, std::move(stream));
  Connection& added = *connection;
  connections_.emplace(id, std::move(connection));
  if (!ticking_) tick_later();
  return added;
}

void ConnectionSet::serve(std::unique_ptr<Stream> stream) {
  Id id = 0;
  add(std::move(stream), id).serve([this, id] {
    --state_.connections;
    ended(id);
  });
}

void ConnectionSet::refuse(std::unique_ptr<Stream> stream) {
  Id id = 0;
  add(std::move(stream), id).refuse([this, id] {
    --state_.refusing;
    ended(id);
  });
}

void ConnectionSet::ended(Id id) {
  connections_.erase(id);
  if (!draining_ || !connections_.empty()) return;
  if (const auto drained = std::exchange(on_drained_, nullptr)) drained();
}

// A call may end connections, its own and, through a handler, others.
void ConnectionSet::for_each(const std::function<void(Connection&)>& call) {
  std::vector<Id> ids;
  ids.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) ids.push_back(id);
  for (const Id id : ids) {
    const auto found = connections_.find(id);
    if (found != connections_.end()) call(*found->second);
  }
}

void ConnectionSet::tick_later() {
  ticking_ = true;
  loop_.call_after(tick_ms_, [this] { tick(); });
}

void ConnectionSet::tick() {
  const std::int64_t now_ns = loop_.now_ns();
  for_each([now_ns](Connection& connection) { connection.check_time(now_ns); });
  ticking_ = false;
  if (!connections_.empty()) tick_later();  // a server without clients sleeps
}

void ConnectionSet::drain() {
  draining_ = true;
  for_each([](Connection& connection) { connection.drain(); });
  if (!connections_.empty()) return;
  if (const auto drained = std::exchange(on_drained_, nullptr)) drained();
}

void ConnectionSet::force() {
  for_each([](Connection& connection) { connection.force(); });
}

}  // namespace layard::http
