#include "http/client.h"

#include <utility>

#include "http/client_exchange.h"
#include "http/client_state.h"

namespace layard::http {

ClientResponse::ClientResponse(int status_, Fields fields_, bool has_body_,
                               std::shared_ptr<ClientExchange> exchange)
    : status(status_),
      fields(std::move(fields_)),
      has_body(has_body_),
      exchange_(std::move(exchange)) {}

ClientResponse::ClientResponse(ClientResponse&& other) noexcept = default;

ClientResponse& ClientResponse::operator=(ClientResponse&& other) noexcept {
  if (this != &other) {
    if (exchange_) exchange_->abandon();
    status = other.status;
    fields = std::move(other.fields);
    has_body = other.has_body;
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

ClientResponse::~ClientResponse() {
  if (exchange_) exchange_->abandon();
}

Task<BodyRead> ClientResponse::read() {
  const auto exchange = exchange_;
  try {
    auto piece = co_await exchange->read();
    co_return piece;
  } catch (...) {  // out of memory
    exchange->abandon();
    throw;
  }
}

Client::Client(Loop& loop, std::unique_ptr<Dialer> dialer, const ClientOptions& options)
    : state_(std::make_shared<ClientState>(loop, std::move(dialer), options)) {}

Client::~Client() { state_->shut_down(); }

Task<ClientResult> Client::send(Upstream upstream, ClientRequest request) {
  const auto exchange =
      std::make_shared<ClientExchange>(state_, std::move(upstream), std::move(request));
  try {
    auto result = co_await exchange->run();
    co_return result;
  } catch (...) {  // out of memory
    exchange->abandon();
    throw;
  }
}

Task<void> Client::shut_down() {
  const auto state = state_;
  state->shut_down();
  co_await state->settled();
}

std::size_t Client::open_connections() const { return state_->open_count(); }
std::size_t Client::kept_connections() const { return state_->kept_count(); }

}  // namespace layard::http
