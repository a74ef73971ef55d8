/// Connections to upstreams that a test plays the other end of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/client.h"
#include "http/dial.h"
#include "support/fake_loop.h"

namespace layard::testing {

/// What a test sees of the dialer, which belongs to the client.
struct FakeNetwork {
  std::vector<std::shared_ptr<FakeWire>> wires;  // one for each connection, in order
  http::DialFault fault = http::DialFault::kNone;
  bool stalls = false;
  std::size_t dials = 0;
  std::size_t dials_given_up = 0;
  std::function<void(FakeWire&)> on_connect = [](FakeWire&) {};
};

class FakeDialer final : public http::Dialer {
 public:
  FakeDialer(FakeLoop& loop, FakeNetwork& network) : loop_(loop), network_(network) {}

  std::unique_ptr<http::Dialling> dial(const http::Upstream&, std::int64_t,
                                       std::function<void(http::DialResult)> done) override {
    ++network_.dials;
    auto attempt = std::make_unique<Attempt>(network_);
    if (network_.stalls) return attempt;
    loop_.post([this, alive = attempt->alive, done = std::move(done)] {
      if (!*alive) return;
      *alive = false;
      http::DialResult result;
      result.fault = network_.fault;
      result.message = "fake";
      if (network_.fault == http::DialFault::kNone) {
        auto wire = std::make_shared<FakeWire>();
        network_.on_connect(*wire);
        network_.wires.push_back(wire);
        result.stream = std::make_unique<FakeStream>(loop_, wire);
      }
      done(std::move(result));
    });
    return attempt;
  }

 private:
  struct Attempt final : http::Dialling {
    explicit Attempt(FakeNetwork& at) : network(at) {}
    ~Attempt() override {
      if (*alive) ++network.dials_given_up;
      *alive = false;
    }
    FakeNetwork& network;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };

  FakeLoop& loop_;
  FakeNetwork& network_;
};

/// Runs a task; `into` holds its value once it has one.
template <class T>
http::Detached run_into(http::Task<T> task, std::optional<T>& into) {
  into.emplace(co_await std::move(task));
}

}  // namespace layard::testing
