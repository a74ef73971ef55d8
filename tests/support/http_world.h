/// A server's connections on a fake loop, with clients and a handler that a test plays itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/connection_set.h"
#include "http/server_state.h"
#include "support/fake_loop.h"

namespace layard::testing {

/// Keeps requests with their responders, or does what a test says.
class ScriptedHandler final : public http::Handler {
 public:
  http::Admission admit(const http::Request& request) override {
    ++admitted;
    return on_admit ? on_admit(request) : http::Admission{};
  }
  void handle(http::Request request, http::Responder responder) override {
    requests.push_back(std::move(request));
    if (on_handle) return on_handle(std::move(responder));
    responders.push_back(std::move(responder));
  }

  std::function<http::Admission(const http::Request&)> on_admit;
  std::function<void(http::Responder)> on_handle;
  int admitted = 0;
  std::vector<http::Request> requests;
  std::vector<http::Responder> responders;
};

class FakeClient {
 public:
  FakeClient(FakeLoop& loop, std::shared_ptr<FakeWire> wire)
      : loop_(loop), wire_(std::move(wire)) {}

  void send(std::string_view bytes) {
    wire_->incoming += bytes;
    poke();
  }
  void close() {
    wire_->client_closed = true;
    poke();
  }
  void reset() {
    wire_->client_reset = true;
    poke();
  }
  /// Takes so many more bytes from the server, at first all.
  void take_bytes(std::size_t count) {
    wire_->window_bytes = count;
    poke();
  }
  /// What the server sent since the last call.
  std::string received() {
    loop_.run();
    return std::exchange(wire_->sent, {});
  }
  bool is_closed() const { return wire_->closed; }
  FakeWire& wire() { return *wire_; }

 private:
  void poke() {
    if (wire_->poke) wire_->poke();
    loop_.run();
  }

  FakeLoop& loop_;
  std::shared_ptr<FakeWire> wire_;
};

struct HttpWorld {
  explicit HttpWorld(const http::ServerOptions& options = {}) : state(options, handler) {}
  ~HttpWorld() {
    handler.responders.clear();
    set.force();
    loop.run();
  }

  FakeClient connect() {
    ++state.connections;
    return start([this](auto stream) { set.serve(std::move(stream)); });
  }
  FakeClient connect_refused() {
    ++state.refusing;
    return start([this](auto stream) { set.refuse(std::move(stream)); });
  }
  http::Counters counters() const { return state.snapshot(); }
  std::uint64_t refused(http::RefusalReason reason) const {
    return counters().refused[static_cast<std::size_t>(reason)];
  }

  ScriptedHandler handler;
  FakeLoop loop;
  http::ServerState state;
  bool drained = false;
  http::ConnectionSet set{state, loop, [this] { drained = true; }};

 private:
  FakeClient start(const std::function<void(std::unique_ptr<http::Stream>)>& begin) {
    auto wire = std::make_shared<FakeWire>();
    begin(std::make_unique<FakeStream>(loop, wire));
    loop.run();
    return {loop, wire};
  }
};

/// A response's status, or 0 when `bytes` is none.
inline int status_of(std::string_view bytes) {
  if (!bytes.starts_with("HTTP/1.1 ") || bytes.size() < 12) return 0;
  return (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
}

}  // namespace layard::testing
