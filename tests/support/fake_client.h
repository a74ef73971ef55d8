/// A client over fake connections, for tests that play the upstream and move the clock by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "http/client.h"
#include "support/fake_dialer.h"
#include "support/fake_loop.h"

namespace layard::testing {

inline constexpr const char* kEmptyResponse = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A client on a loop and a clock that are moved by hand; connections are wires_of the network.
class FakeClient : public ::testing::Test {
 protected:
  ~FakeClient() override {
    result_.reset();
    client_.reset();
    loop_.run();
  }
  void send(http::ClientRequest request = http::ClientRequest()) {
    if (!client_) {
      client_ = std::make_unique<http::Client>(loop_, std::make_unique<FakeDialer>(loop_, network_),
                                               options_);
    }
    result_.reset();
    run_into(client_->send(upstream_, std::move(request)), result_);
    loop_.run();
  }
  FakeWire& wire(std::size_t index = 0) { return *network_.wires.at(index); }
  void answer(std::string_view bytes, std::size_t index = 0) {
    wire(index).incoming += bytes;
    if (wire(index).poke) wire(index).poke();
    loop_.run();
  }
  void close(std::size_t index = 0) {
    wire(index).client_closed = true;
    if (wire(index).poke) wire(index).poke();
    loop_.run();
  }
  http::ClientResponse& response() { return std::get<http::ClientResponse>(*result_); }
  std::optional<http::ClientFault> fault() const {
    if (!result_) return std::nullopt;
    const auto* const error = std::get_if<http::ClientError>(&*result_);
    return error == nullptr ? std::nullopt : std::optional(error->fault);
  }
  const http::ClientError& error() const { return std::get<http::ClientError>(*result_); }
  // Begins a read; read_ is filled when it ends.
  void read() {
    read_.reset();
    run_into(response().read(), read_);
    loop_.run();
  }
  std::string piece() {
    read();
    if (!read_) return "(waits)";
    if (read_->state == http::BodyRead::State::kEnd) return "(end)";
    if (read_->state == http::BodyRead::State::kFailed) {
      return std::string(http::client_fault_name(read_->error.fault));
    }
    return std::string(read_->bytes);
  }
  static http::ClientRequest post(std::string body) {
    http::ClientRequest request;
    request.method = "POST";
    request.body = std::move(body);
    return request;
  }

  FakeLoop loop_;
  FakeNetwork network_;
  http::ClientOptions options_;
  http::Upstream upstream_{false, "a.example", 80, ""};
  std::unique_ptr<http::Client> client_;
  std::optional<http::ClientResult> result_;
  std::optional<http::BodyRead> read_;
};

}  // namespace layard::testing
