// Broken and ambiguous requests over real sockets: one 4xx, the connection closed, nothing after it
// done, and the server well afterwards.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server.h"
#include "support/compress.h"
#include "support/hostile_requests.h"
#include "support/http_world.h"
#include "support/shared_dir.h"
#include "support/tcp_client.h"
#include "support/temp_dir.h"

namespace layard::http {
namespace {

using testing::status_of;
using testing::TcpClient;

class CountingHandler final : public Handler {
 public:
  Admission admit(const Request& request) override {
    const std::lock_guard lock(mutex_);
    hidden_ += request.fields.find("X-Hidden") ? 1 : 0;
    return {};
  }
  void handle(Request request, Responder responder) override {
    responder.send(make_response(200, "text/plain", std::move(request.body)));
  }
  int hidden() const {
    const std::lock_guard lock(mutex_);
    return hidden_;
  }

 private:
  mutable std::mutex mutex_;
  int hidden_ = 0;
};

class HttpServerHostile : public ::testing::Test {
 protected:
  HttpServerHostile() {
    ServerOptions options;
    options.head_ms = 2000;
    options.linger_ms = 200;
    server_ = *Server::start(options, handler_);
  }

  void check(std::string_view name, std::string_view bytes, bool answered) {
    TcpClient client(server_->port());
    client.send(bytes);
    const std::string response = client.receive_response();
    const int status = status_of(response);
    if (answered) {
      EXPECT_EQ(status, 200) << name;
    } else {
      EXPECT_GE(status, 400) << name << ": " << response;
      EXPECT_LT(status, 500) << name;
      EXPECT_EQ(client.receive_all(), "") << name;  // and closed
    }
    EXPECT_EQ(handler_.hidden(), 0) << name;
    check_alive();
  }

  void check_alive() {
    TcpClient client(server_->port());
    client.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(status_of(client.receive_response()), 200);
  }

  CountingHandler handler_;
  std::unique_ptr<Server> server_;
};

TEST_F(HttpServerHostile, AmbiguousRequests) {
  for (const auto& row : testing::hostile_requests()) check(row.name, row.bytes, row.answered);
}

TEST_F(HttpServerHostile, RequestsThatBrokeOthers) {
  LAYARD_REQUIRE_SHARED(shared);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared / "bug-inputs" / "http")) {
    if (entry.path().extension() != ".raw") continue;
    const std::string name = entry.path().stem().string();
    check(name, testing::read_file(entry.path()), name.starts_with("ok-"));
    ++files;
  }
  EXPECT_GE(files, 22);
}

TEST_F(HttpServerHostile, Bombs) {
  const std::string zeros(16 << 20, '\0');
  for (const bool use_gzip : {true, false}) {
    const std::string body = use_gzip ? testing::gzip(zeros) : testing::zstd(zeros);
    TcpClient client(server_->port());
    client.send(
        testing::hostile_post("Content-Encoding: " + std::string(use_gzip ? "gzip" : "zstd") +
                                  "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
                              body));
    EXPECT_EQ(status_of(client.receive_response()), 413);
  }
  EXPECT_EQ(server_->counters().body_memory_bytes, 0U);
  check_alive();
}

TEST_F(HttpServerHostile, FloodsOfBytesThatAreNoRequest) {
  for (const char* unit : {"\r\n", "A", "GET ", "X-A: 1\r\n", "\xff", "\n"}) {
    TcpClient client(server_->port());
    std::string flood;
    while (flood.size() < 300'000) flood += unit;
    client.send(flood);
    const int status = status_of(client.receive_all());
    EXPECT_TRUE(status >= 400 && status < 500) << unit;
  }
  check_alive();
}

TEST_F(HttpServerHostile, ClientsThatComeAndGo) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([this, seed] {
      const std::string request =
          testing::hostile_post("Content-Length: 1000\r\n", std::string(1000, 'x'));
      for (unsigned i = 0; i < 100; ++i) {
        TcpClient client(server_->port());
        client.send(request.substr(0, (seed * 977 + i * 131) % request.size() + 1));
        if (i % 3 == 0) client.reset();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  check_alive();
  for (int i = 0; i < 1000 && server_->counters().connections_open > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Counters counters = server_->counters();
  EXPECT_EQ(counters.connections_open, 0U);
  EXPECT_EQ(counters.requests_open, 0U);
  EXPECT_EQ(counters.body_memory_bytes, 0U);
}

}  // namespace
}  // namespace layard::http
