#include "gateway/gateway_server.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::at;
using testing::chat_body;
using testing::comes_true;
using testing::Door;
using testing::FakeDevice;
using testing::field_of;
using testing::PolicyText;
using testing::post;
using testing::SeenRequest;
using testing::ServedConnection;
using testing::TcpClient;
using testing::unchunked;

// A server with its policy in a file. Devices must outlive it.
struct ServerWorld {
  explicit ServerWorld(const PolicyText& policy, std::int64_t drain_ms = 5000) {
    put(policy.text());
    options.policy_file = (folder / "policy.json").string();
    options.http.drain_ms = drain_ms;
    auto started = GatewayServer::start(options, "debug", [this](auto, std::string_view line) {
      const std::lock_guard lock(mutex);
      lines += std::string(line) + "\n";
    });
    if (!started.ok()) throw std::runtime_error(started.error().message);
    server = *std::move(started);
  }
  void put(const std::string& text) const { testing::write_file(folder / "policy.json", text); }
  TcpClient connect() const { return TcpClient(server->port()); }
  std::string ask(const std::string& request) const {
    TcpClient client = connect();
    client.send(request);
    return client.receive_response();
  }
  std::string log() {
    const std::lock_guard lock(mutex);
    return lines;
  }

  testing::TempDir folder;
  GatewayOptions options;
  std::mutex mutex;
  std::string lines;  // guarded by mutex
  std::unique_ptr<GatewayServer> server;
};

// Streams one event, and the rest when the door opens.
FakeDevice::Serve stream_until(Door& door, const std::string& text) {
  return [&door, text](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: \"" + text + "\"\n\n"));
    door.pass();
    connection.send(FakeDevice::chunk("data: [DONE]\n\n") + FakeDevice::kLastChunk);
  };
}

const std::string& stream_request() {
  static const std::string request = post(chat_body("x", true), "Connection: close\r\n");
  return request;
}

TEST(GatewayServer, StreamsGoOnOverAReload) {
  Door door;
  FakeDevice one(stream_until(door, "one"));
  FakeDevice two;
  ServerWorld world({{{"one", at(one)}}});
  EXPECT_EQ(world.server->url(), "http://127.0.0.1:" + std::to_string(world.server->port()));
  TcpClient client = world.connect();
  client.send(stream_request());
  const std::string begin = client.receive_until("data: \"one\"");
  world.put(PolicyText{{{"two", at(two)}}}.text());
  EXPECT_EQ(world.server->reload(), "");
  EXPECT_EQ(field_of(world.ask(post(chat_body("x"))), "X-1bit-Route"), "- 0.00 two");
  door.open();
  const std::string events = unchunked(begin + client.receive_all());
  EXPECT_EQ(events, "data: \"one\"\n\ndata: [DONE]\n\n");
  EXPECT_NE(world.log().find("reloaded"), std::string::npos);
}

TEST(GatewayServer, ABadPolicyKeepsTheOldOne) {
  FakeDevice one;
  ServerWorld world({{{"one", at(one)}}});
  const auto check = [&](const std::string& text, const std::string& part) {
    world.put(text);
    const std::string error = world.server->reload();
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(field_of(world.ask(post(chat_body("x"))), "X-1bit-Route"), "- 0.00 one");
    const std::string told = world.ask(post("{}", "", "/gateway/reload"));
    EXPECT_EQ(told.find("HTTP/1.1 422 "), 0U) << told;
  };
  check("{", "route policy");
  check(R"({"version":1,"default":"one","unknown":1})", "unknown");
  check(PolicyText{{{"one", ""}}}.text(), "no device has a url");
  EXPECT_NE(world.log().find("reload_refused"), std::string::npos);
  world.put(PolicyText{{{"one", at(one)}}}.text());
  EXPECT_EQ(world.ask(post("{}", "", "/gateway/reload")).find("HTTP/1.1 200 "), 0U);
}

TEST(GatewayServer, ManyReloadsWhileRequestsCome) {
  FakeDevice one;
  FakeDevice two;
  ServerWorld world({{{"one", at(one, R"("requests_max":1,"queue_max":64)")}}});
  std::atomic<bool> stop = false;
  std::atomic<int> served = 0;
  std::atomic<int> lost = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      while (!stop) {
        const bool good = world.ask(post(chat_body("x"))).starts_with("HTTP/1.1 200 ");
        ++(good ? served : lost);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const FakeDevice& device = i % 2 == 0 ? two : one;
    world.put(PolicyText{{{"one", at(device, R"("requests_max":1,"queue_max":64)")}}}.text());
    EXPECT_EQ(world.server->reload(), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_GT(served, 20);
  EXPECT_EQ(lost, 0);
}

TEST(GatewayServer, StopDrainsThenCuts) {
  Door door;
  FakeDevice ends(stream_until(door, "ends"));
  FakeDevice stays([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: \"stays\"\n\n"));
    stays.wait_for_end(connection);
    connection.close();
  });
  ServerWorld world({{{"ends", at(ends)}, {"stays", at(stays)}}}, 400);
  TcpClient one = world.connect();
  TcpClient two = world.connect();
  one.send(post(chat_body("x", true), "X-Layard-Device: ends\r\n"));
  two.send(post(chat_body("x", true), "X-Layard-Device: stays\r\n"));
  one.receive_until("ends");
  two.receive_until("stays");
  world.server->stop();
  door.open();
  EXPECT_TRUE(one.receive_all().ends_with("0\r\n\r\n"));
  EXPECT_FALSE(two.receive_all().ends_with("0\r\n\r\n"));
  world.server->wait();
  EXPECT_TRUE(comes_true([&] { return stays.ends() == 1; }));
  EXPECT_NE(world.log().find("stopping"), std::string::npos);
  EXPECT_NE(world.log().find("stopped"), std::string::npos);
  EXPECT_THROW(world.connect(), std::runtime_error);
}

TEST(GatewayServer, ASecondStopAndADestructorCutAtOnce) {
  for (const bool by_stop : {true, false}) {
    FakeDevice stays([&](ServedConnection& connection, const SeenRequest&) {
      connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: \"stays\"\n\n"));
      stays.wait_for_end(connection);
      connection.close();
    });
    ServerWorld world({{{"stays", at(stays)}}}, 60'000);
    TcpClient client = world.connect();
    client.send(stream_request());
    client.receive_until("stays");
    const auto begun = std::chrono::steady_clock::now();
    if (by_stop) {
      world.server->stop();
      world.server->stop();
      world.server->wait();
    } else {
      world.server.reset();
    }
    EXPECT_FALSE(client.receive_all().ends_with("0\r\n\r\n"));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  }
}

TEST(GatewayServer, WhatKeepsItFromStarting) {
  FakeDevice one;
  const ServerWorld world({{{"one", at(one)}}});
  const auto check = [&](const std::function<void(GatewayOptions&)>& change,
                         const std::string& part) {
    GatewayOptions options = world.options;
    change(options);
    const auto started = GatewayServer::start(options, "off", nullptr);
    ASSERT_FALSE(started.ok());
    EXPECT_NE(started.error().message.find(part), std::string::npos) << started.error().message;
  };
  check([](GatewayOptions& o) { o.policy_file = "/nowhere/policy.json"; }, "/nowhere/policy.json");
  check([](GatewayOptions& o) { o.device = "npu"; }, "--device");
  check([](GatewayOptions& o) { o.decision_log = "/nowhere/log.jsonl"; }, "/nowhere/log.jsonl");
  check([](GatewayOptions& o) { o.http.io_threads = 0; }, "io_threads");
  check([&](GatewayOptions& o) { o.http.port = world.server->port(); },
        std::to_string(world.server->port()));
}

}  // namespace
}  // namespace layard::gateway
