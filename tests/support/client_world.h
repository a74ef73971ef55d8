/// A client on a loop on its own thread, called from a test's thread.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "http/client.h"
#include "http/dial.h"
#include "http/loop.h"

namespace layard::testing {

/// A response that belongs to the client's loop: a test reads plain members and lets the world do
/// the rest.
using HeldResult = std::shared_ptr<std::optional<http::ClientResult>>;

class ClientWorld {
  template <class T>
  struct ValueOf;
  template <class T>
  struct ValueOf<http::Task<T>> {
    using type = T;
  };

 public:
  /// Runs the task that `make` gives on the loop and waits for its value.
  template <class Make>
  auto call(Make make) {
    using Value = typename ValueOf<decltype(make())>::type;
    std::promise<Value> done;
    loop_->post([&] { run(make, done); });
    return done.get_future().get();
  }

  explicit ClientWorld(const http::ClientOptions& options = http::ClientOptions(),
                       const http::TlsOptions& tls = http::TlsOptions()) {
    auto dialer = http::make_dialer(*loop_, tls);
    client_ = std::make_unique<http::Client>(*loop_, *std::move(dialer), options);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~ClientWorld() {
    call([this] { return shut_down(); });
    loop_->finish();
    thread_.join();
  }

  HeldResult send(const http::Upstream& upstream,
                  http::ClientRequest request = http::ClientRequest()) {
    return call([&] { return send_on_loop(upstream, std::move(request)); });
  }
  struct Piece {
    http::BodyRead::State state;
    std::string bytes;
    std::optional<http::ClientFault> fault;
  };
  Piece read(const HeldResult& held) {
    return call([&] { return read_on_loop(held); });
  }
  /// The whole body; `fault` when it did not end well.
  Piece read_all(const HeldResult& held) {
    std::string all;
    while (true) {
      auto piece = read(held);
      all += piece.bytes;
      if (piece.state == http::BodyRead::State::kData) continue;
      piece.bytes = std::move(all);
      return piece;
    }
  }
  void drop(const HeldResult& held) {
    call([&] { return drop_on_loop(held); });
  }
  std::size_t kept() {
    return call([this]() -> http::Task<std::size_t> { return count_kept(); });
  }
  std::size_t open() {
    return call([this]() -> http::Task<std::size_t> { return count_open(); });
  }
  http::SocketLoop& loop() { return *loop_; }

 private:
  template <class Make, class Value>
  static http::Detached run(Make& make, std::promise<Value>& done) {
    auto value = co_await make();
    done.set_value(std::move(value));
  }
  http::Task<bool> shut_down() {
    for (const auto& held : held_) held->reset();
    co_await client_->shut_down();
    client_.reset();
    co_return true;
  }
  http::Task<HeldResult> send_on_loop(http::Upstream upstream, http::ClientRequest request) {
    auto held = std::make_shared<std::optional<http::ClientResult>>();
    auto result = co_await client_->send(std::move(upstream), std::move(request));
    held->emplace(std::move(result));
    held_.push_back(held);
    co_return held;
  }
  static http::Task<Piece> read_on_loop(HeldResult held) {
    const auto piece = co_await std::get<http::ClientResponse>(**held).read();
    Piece copy{piece.state, std::string(piece.bytes), std::nullopt};
    if (piece.state == http::BodyRead::State::kFailed) copy.fault = piece.error.fault;
    co_return copy;
  }
  static http::Task<bool> drop_on_loop(HeldResult held) {
    held->reset();
    co_return true;
  }
  http::Task<std::size_t> count_kept() { co_return client_->kept_connections(); }
  http::Task<std::size_t> count_open() { co_return client_->open_connections(); }

  std::unique_ptr<http::SocketLoop> loop_ = http::SocketLoop::create();
  std::unique_ptr<http::Client> client_;
  std::vector<HeldResult> held_;  // on the loop's thread
  std::thread thread_;
};

}  // namespace layard::testing
