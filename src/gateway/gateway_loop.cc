#include "gateway/gateway_loop.h"

#include <utility>

#include "http/dial.h"

namespace layard::gateway {

Result<http::Client*> GatewayLoop::client(const DeviceLink& link) {
  const auto found = clients_.find(link.client_key);
  if (ending_.stop_requested()) return Error{ErrorCode::kCancelled, "the gateway stops"};
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
  end_when_idle();
}

// Once, and only when both the requests and the connections are over: whichever comes last ends it.
void GatewayLoop::end_when_idle() {
  if (calls_ > 0 || !clients_closed_ || std::exchange(end_posted_, true)) return;
  // Not here: the caller is still within a request's coroutine, or that of close_clients().
  loop_.post([this] {
    clients_.clear();
    const auto done = std::exchange(done_, nullptr);
    done();  // this is gone
  });
}

void GatewayLoop::end(std::function<void()> done) {
  done_ = std::move(done);
  ending_.request_stop();
  close_clients();
}

http::Detached GatewayLoop::close_clients() {
  // None is added meanwhile.
  for (const auto& [key, client] : clients_) co_await client->shut_down();
  clients_closed_ = true;
  end_when_idle();
}

}  // namespace layard::gateway
