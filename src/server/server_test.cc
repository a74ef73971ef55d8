#include "server/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "runtime/service_hook.h"  // tidy: allow(Includes): makes the model's thread fail
#include "support/tcp_client.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::server {
namespace {

constexpr const char* kBody = R"({"state":"a text","questions":["is it so"]})";

std::string post(const std::string& body, const char* more) {
  return "POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         std::string(more) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class DecisionServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_tiny_checkpoint(folder_.path() / "tiny", {});
    options_.service.model = (folder_.path() / "tiny").string();
    options_.service.checkpoints.environment.threads = 1;
    options_.service.checkpoints.local_files_only = true;
    options_.http.port = 0;
  }

  std::unique_ptr<DecisionServer> start() {
    auto server =
        DecisionServer::start(options_, "info", [this](std::string_view, std::string_view line) {
          const std::lock_guard lock(mutex_);
          logged_ += std::string(line) + "\n";
        });
    EXPECT_TRUE(server.ok()) << server.error().message;
    return *std::move(server);
  }

  static std::string ask(DecisionServer& server, const std::string& request) {
    testing::TcpClient client(server.port());
    client.send(request);
    return client.receive_all();
  }

  testing::TempDir folder_;
  ServeOptions options_;
  std::mutex mutex_;
  std::string logged_;
};

TEST_F(DecisionServerTest, AnswersAndStops) {
  const auto server = start();
  EXPECT_EQ(server->url(), "http://127.0.0.1:" + std::to_string(server->port()));
  const std::string answer = ask(*server, post(kBody, "Connection: close\r\n"));
  EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK") << answer;
  EXPECT_NE(answer.find(R"({"model":"laya-rl-agent","answers":{"is it so":{"type":"noul",)"),
            std::string::npos)
      << answer;
  server->stop();
  server->wait();
  EXPECT_NE(logged_.find("listening url=\"http://127.0.0.1:"), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("endpoint=\"systemone\" status=200"), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("stopped completed=1"), std::string::npos) << logged_;
  EXPECT_THROW(testing::TcpClient(server->port()), std::runtime_error);
}

TEST_F(DecisionServerTest, WhatTheServerBelowRefusesHasTheSameForm) {
  const auto server = start();
  EXPECT_NE(ask(*server, "nonsense\r\n\r\n").find("\r\n\r\n{\"detail\":\""), std::string::npos);
  options_.http.body_bytes_max = 10;
  const auto small = start();
  EXPECT_NE(ask(*small, post(kBody, "Connection: close\r\n")).find("HTTP/1.1 413 "),
            std::string::npos);
}

TEST_F(DecisionServerTest, CannotStart) {
  const auto server = start();
  options_.http.port = server->port();
  const auto second = DecisionServer::start(options_, "off", nullptr);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  options_.service.model = (folder_.path() / "nothing").string();
  EXPECT_FALSE(DecisionServer::start(options_, "off", nullptr).ok());
}

// A worker that throws costs the request it worked on and nothing else.
TEST_F(DecisionServerTest, AWorkerThatThrowsIsA500AndTheNextIsAnswered) {
  using runtime::ServiceStep;
  for (const auto step : {ServiceStep::kPrepare, ServiceStep::kForwardPass, ServiceStep::kAnswer}) {
    runtime::service_hook() = [step](ServiceStep at, const Request& request) {
      if (at == step && request.state.text == "bad") throw std::bad_alloc();
    };
    {
      const auto server = start();
      for (int round = 0; round < 2; ++round) {
        const std::string refused = ask(
            *server, post(R"({"state":"bad","questions":["is it so"]})", "Connection: close\r\n"));
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 500 ")) << refused;
        EXPECT_TRUE(refused.ends_with("\r\n\r\n{\"detail\":\"inference failed\"}")) << refused;
        const std::string answer = ask(*server, post(kBody, "Connection: close\r\n"));
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
      }
      const std::string metrics =
          ask(*server, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      for (const char* line :
           {"layard_decisions_submitted_total 4", "layard_decisions_total{outcome=\"completed\"} 2",
            "layard_decisions_total{outcome=\"failed\"} 2", "layard_decisions_queued 0",
            "layard_decisions_running 0", "{endpoint=\"systemone\",status=\"500\"} 2"}) {
        EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
      }
    }
    runtime::service_hook() = nullptr;
  }
}

// Clients that ask, leave early and talk nonsense from many threads while the server is stopped:
// for the sanitizers, and every answer is whole.
TEST_F(DecisionServerTest, StopsUnderMixedLoad) {
  options_.http.io_threads = 2;
  options_.http.drain_ms = 5000;
  auto server = start();
  const unsigned port = server->port();
  std::atomic<bool> stopping = false;
  std::atomic<int> answered = 0;
  std::atomic<int> broken = 0;
  const auto client = [&](int number) {
    for (int i = 0; !stopping && i < 10'000; ++i) {
      try {
        testing::TcpClient one(port);
        const std::string body = R"({"state":"text )" + std::to_string(number * 10'000 + i) +
                                 R"(","questions":["is it so","is it late"]})";
        if (i % 3 == 2) {  // leaves without waiting
          one.send(post(body, ""));
          continue;
        }
        one.send(i % 3 == 1 ? "nonsense\r\n\r\n" : post(body, "Connection: close\r\n"));
        const std::string answer = one.receive_all();
        if (answer.empty()) continue;  // the server closed before it read the request
        ++answered;
        if (!answer.starts_with("HTTP/1.1 ") || !answer.ends_with("}")) ++broken;
      } catch (const std::runtime_error&) {
        return;  // it no longer listens
      }
    }
  };
  std::vector<std::jthread> clients;
  for (int i = 0; i < 6; ++i) clients.emplace_back(client, i);
  while (answered < 60) std::this_thread::yield();
  server->stop();
  server->wait();
  stopping = true;
  clients.clear();
  server.reset();
  EXPECT_EQ(broken, 0);
}

}  // namespace
}  // namespace layard::server
