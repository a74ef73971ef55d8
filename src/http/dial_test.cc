#include "http/dial.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/scripted_server.h"

namespace layard::http {
namespace {

using testing::ScriptedServer;
using testing::ServedConnection;

/// A listening socket that nobody accepts from and whose queue is full.
class FullListener {
 public:
  FullListener() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    auto* const plain = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(listener_, plain, size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    EXPECT_EQ(::getsockname(listener_, plain, &size), 0);
    for (int& socket : waiting_) {
      socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      static_cast<void>(::connect(socket, plain, size));
    }
  }
  ~FullListener() {
    for (const int socket : waiting_) ::close(socket);
    ::close(listener_);
  }
  unsigned port() const { return ntohs(address_.sin_port); }

 private:
  int listener_;
  sockaddr_in address_{};
  std::array<int, 4> waiting_{};
};

class HttpDial : public ::testing::Test {
 protected:
  HttpDial() {
    auto dialer = make_dialer(*loop_, {});
    EXPECT_TRUE(dialer.ok());
    dialer_ = *std::move(dialer);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~HttpDial() override {
    on_loop([this] { attempts_.clear(); });
    loop_->finish();
    thread_.join();
  }
  template <class Call>
  void on_loop(Call call) {
    std::promise<void> done;
    loop_->post([&] {
      call();
      done.set_value();
    });
    done.get_future().get();
  }
  std::future<DialResult> begin(const Upstream& upstream, std::int64_t wait_ms) {
    auto promise = std::make_shared<std::promise<DialResult>>();
    on_loop([&] {
      attempts_.push_back(dialer_->dial(upstream, wait_ms, [this, promise](DialResult result) {
        ++told_;
        promise->set_value(std::move(result));
      }));
    });
    return promise->get_future();
  }
  DialResult dial(const Upstream& upstream, std::int64_t wait_ms = 5000) {
    return begin(upstream, wait_ms).get();
  }

  std::unique_ptr<SocketLoop> loop_ = SocketLoop::create();
  std::unique_ptr<Dialer> dialer_;
  std::atomic<int> told_ = 0;
  std::vector<std::unique_ptr<Dialling>> attempts_;
  std::thread thread_;
};

TEST_F(HttpDial, ConnectsToAddressesAndNames) {
  ScriptedServer server([](ServedConnection& connection, std::size_t) { connection.sees_end(); });
  for (const char* host : {"127.0.0.1", "localhost"}) {
    auto result = dial({false, host, server.port(), ""});
    ASSERT_EQ(result.fault, DialFault::kNone) << host << ": " << result.message;
    EXPECT_EQ(result.stream->peer_address(), "127.0.0.1");
    EXPECT_TRUE(result.stream->peer_is_loopback());
    on_loop([&] { result.stream.reset(); });
  }
  // The listener's queue connects before the server accepts.
  while (server.accepted() < 2) std::this_thread::yield();
}

TEST_F(HttpDial, TellsFailuresApart) {
  unsigned closed_port = 0;
  {
    ScriptedServer server([](ServedConnection&, std::size_t) {});
    closed_port = server.port();
  }
  EXPECT_EQ(dial({false, "127.0.0.1", closed_port, ""}).fault, DialFault::kRefused);
  EXPECT_EQ(dial({true, "127.0.0.1", closed_port, ""}).fault, DialFault::kRefused);
  const auto unresolved = dial({false, "a..b", 80, ""});
  EXPECT_EQ(unresolved.fault, DialFault::kUnresolved);
  EXPECT_EQ(unresolved.stream, nullptr);
  FullListener full;
  const auto timed_out = dial({false, "127.0.0.1", full.port(), ""}, 100);
  EXPECT_EQ(timed_out.fault, DialFault::kTimeout);
}

TEST_F(HttpDial, ASilentHandshakeRunsOutOfTime) {
  std::promise<bool> ended;
  ScriptedServer server(
      [&](ServedConnection& connection, std::size_t) { ended.set_value(connection.sees_end()); });
  EXPECT_EQ(dial({true, "127.0.0.1", server.port(), ""}, 100).fault, DialFault::kTimeout);
  EXPECT_TRUE(ended.get_future().get());
}

TEST_F(HttpDial, WhatDoesNotSpeakTlsIsSaidToBeSo) {
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.sees_end();
  });
  const auto result = dial({true, "127.0.0.1", server.port(), ""});
  EXPECT_EQ(result.fault, DialFault::kTls);
  EXPECT_NE(result.message.find("127.0.0.1"), std::string::npos);
}

TEST_F(HttpDial, AnAttemptThatIsGivenUpTellsNobodyAndCloses) {
  std::promise<bool> ended;
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.receive_until("\x01");  // part of the hello: the handshake is under way
    ended.set_value(connection.sees_end());
  });
  const auto never = begin({true, "127.0.0.1", server.port(), ""}, 60'000);
  while (server.accepted() == 0) std::this_thread::yield();
  on_loop([this] { attempts_.clear(); });
  EXPECT_TRUE(ended.get_future().get());
  on_loop([] {});  // what the closing began has ended
  EXPECT_EQ(told_, 0);
}

TEST(HttpDialer, ACertificateFileThatIsNoneIsNamed) {
  const auto loop = SocketLoop::create();
  for (const std::string file : {"/no/such/file.pem", "/dev/null"}) {
    TlsOptions tls;
    tls.ca_file = file;
    const auto dialer = make_dialer(*loop, tls);
    ASSERT_FALSE(dialer.ok());
    EXPECT_EQ(dialer.error().code, ErrorCode::kIo);
    EXPECT_NE(dialer.error().message.find(file), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::http
