#include "http/client_state.h"

#include <algorithm>
#include <utility>

namespace layard::http {

ClientState::ClientState(Loop& loop_, std::unique_ptr<Dialer> dialer_,
                         const ClientOptions& options_)
    : loop(loop_), dialer(std::move(dialer_)), options(options_) {}

void ClientState::enter(const std::shared_ptr<TimedExchange>& exchange) {
  exchanges_.insert_or_assign(exchange.get(), exchange);
  tick_later();
}

void ClientState::leave(const TimedExchange& exchange) { exchanges_.erase(&exchange); }

// A list of its own: who is told of a limit leaves the map.
std::vector<std::shared_ptr<TimedExchange>> ClientState::living_exchanges() {
  std::vector<std::shared_ptr<TimedExchange>> living;
  living.reserve(exchanges_.size());
  std::erase_if(exchanges_, [&](const auto& entry) {
    auto exchange = entry.second.lock();
    if (!exchange) return true;
    living.push_back(std::move(exchange));
    return false;
  });
  return living;
}

bool ClientState::may_dial() {
  if (shut_) return false;
  // What closes still counts for a moment, so the freed place may be counted twice until then.
  if (open_ >= options.connections_max) {
    if (kept_count_ == 0) return false;
    retire_oldest_kept();
  }
  ++open_;
  return true;
}

void ClientState::dial_failed() { closed_one(); }

std::shared_ptr<ClientConnection> ClientState::adopt(std::unique_ptr<Stream> stream,
                                                     std::string origin) {
  return std::make_shared<ClientConnection>(std::move(stream), std::move(origin),
                                            [self = shared_from_this()] { self->closed_one(); });
}

std::shared_ptr<ClientConnection> ClientState::take_kept(const std::string& origin) {
  const auto oldest_ns = loop.now_ns() - options.kept_ms * 1'000'000;
  while (true) {
    const auto found = kept_.find(origin);
    if (found == kept_.end()) return nullptr;
    auto connection = std::move(found->second.back());
    found->second.pop_back();
    --kept_count_;
    if (found->second.empty()) kept_.erase(found);
    connection->reader().unwatch();
    // What an upstream sends before it is asked is no answer to the next request.
    if (connection->kept_since_ns > oldest_ns && connection->reader().bytes().empty()) {
      return connection;
    }
    connection->retire();
  }
}

void ClientState::keep(std::shared_ptr<ClientConnection> connection) {
  const auto found = kept_.find(connection->origin());
  const bool full = found != kept_.end() && found->second.size() >= options.kept_per_upstream_max;
  if (shut_ || full || options.kept_per_upstream_max == 0 || options.kept_max == 0) {
    connection->retire();
    return;
  }
  if (kept_count_ >= options.kept_max) retire_oldest_kept();
  connection->kept_since_ns = loop.now_ns();
  auto& reader = connection->reader();
  const auto* const key = connection.get();
  kept_[connection->origin()].push_back(std::move(connection));
  ++kept_count_;
  reader.watch([weak = weak_from_this(), key] {
    if (const auto self = weak.lock()) self->drop_kept(key);
  });
  tick_later();
}

void ClientState::drop_kept(const ClientConnection* connection) {
  for (auto& [origin, list] : kept_) {
    const auto found = std::ranges::find(list, connection, &std::shared_ptr<ClientConnection>::get);
    if (found == list.end()) continue;
    const auto dropped = std::move(*found);
    list.erase(found);
    --kept_count_;
    if (list.empty()) kept_.erase(std::string(origin));
    dropped->reader().unwatch();
    dropped->retire();
    return;
  }
}

void ClientState::retire_oldest_kept() {
  const ClientConnection* oldest = nullptr;
  for (const auto& [origin, list] : kept_) {
    const auto* const first = list.front().get();
    if (oldest == nullptr || first->kept_since_ns < oldest->kept_since_ns) oldest = first;
  }
  if (oldest != nullptr) drop_kept(oldest);
}

void ClientState::expire_kept(std::int64_t now_ns) {
  const auto oldest_ns = now_ns - options.kept_ms * 1'000'000;
  std::vector<const ClientConnection*> over;
  for (const auto& [origin, list] : kept_) {
    for (const auto& connection : list) {
      if (connection->kept_since_ns <= oldest_ns) over.push_back(connection.get());
    }
  }
  for (const auto* const connection : over) drop_kept(connection);
}

void ClientState::closed_one() {
  --open_;
  closed_.set();
}

void ClientState::tick_later() {
  if (std::exchange(ticking_, true)) return;
  loop.call_after(options.tick_ms, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void ClientState::tick() {
  ticking_ = false;
  const auto now_ns = loop.now_ns();
  expire_kept(now_ns);
  for (const auto& exchange : living_exchanges()) exchange->check_time(now_ns);
  if (!exchanges_.empty() || kept_count_ > 0) tick_later();
}

void ClientState::shut_down() {
  shut_ = true;
  for (const auto& exchange : living_exchanges()) exchange->cancel();
  while (kept_count_ > 0) retire_oldest_kept();
}

Task<void> ClientState::settled() {
  while (open_ > 0) {
    closed_.reset();
    co_await closed_.wait();
  }
}

}  // namespace layard::http
