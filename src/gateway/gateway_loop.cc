#include "gateway/gateway_loop.h"

#include <utility>

#include "http/dial.h"

namespace layard::gateway {

Result<http::Client*> GatewayLoop::client(const DeviceLink& link) {
  const auto found = clients_.find(link.client_key);
  if (found != clients_.end()) return found->second.get();
  if (clients_.size() >= kClientsMax) {
    return Error{ErrorCode::kOverloaded,
                 "too many devices were in policies since the start; start the gateway again"};
  }
  LAYARD_ASSIGN(auto dialer, http::make_dialer(loop_, link.tls));
  auto client = std::make_unique<http::Client>(loop_, std::move(dialer), link.client);
  http::Client* added = client.get();
  clients_.emplace(link.client_key, std::move(client));
  return added;
}

void GatewayLoop::end_call() {
  --calls_;
  // Not here: the caller is still within the request's coroutine.
  if (calls_ == 0 && done_) loop_.post([this] { end_if_idle(); });
}

void GatewayLoop::end_if_idle() {
  if (calls_ > 0 || !done_) return;
  clients_.clear();
  std::exchange(done_, nullptr)();
}

void GatewayLoop::end(std::function<void()> done) {
  done_ = std::move(done);
  close_clients();
}

http::Detached GatewayLoop::close_clients() {
  for (const auto& [key, client] : clients_) co_await client->shut_down();
  // Not here either: this coroutine still has its frame.
  loop_.post([this] { end_if_idle(); });
}

}  // namespace layard::gateway
