#include "gateway/gateway_handler.h"

#include <gtest/gtest.h>

#include <string>

#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::at;
using testing::chat_body;
using testing::comes_true;
using testing::FakeDevice;
using testing::field_of;
using testing::GatewayWorld;
using testing::post;
using testing::SeenRequest;
using testing::ServedConnection;
using testing::TcpClient;

int status_of(const std::string& response) {
  return response.size() < 12 ? 0 : std::atoi(response.c_str() + 9);
}

std::string get(const std::string& path, const std::string& fields = "Host: localhost\r\n",
                const std::string& method = "GET") {
  return method + " " + path + " HTTP/1.1\r\n" + fields + "\r\n";
}

void use_keys(GatewayOptions& options) {
  options.keys = {{"alice", "key-alice"}, {"bob", "key-bob-1"}};
}

TEST(GatewayHandler, WhatIsRefusedBeforeTheBody) {
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}, .options = use_keys});
  const auto check = [&](const std::string& request, int status, const std::string& part) {
    const std::string response = world.ask(request);
    EXPECT_EQ(status_of(response), status) << request << response;
    EXPECT_NE(response.find(part), std::string::npos) << request << response;
    EXPECT_EQ(field_of(response, "X-1bit-Route") == "- 0.00 -", status >= 400) << response;
  };
  const std::string key = "Authorization: Bearer key-alice\r\n";
  const std::string chat = chat_body("x");
  const std::string json = "Content-Type: application/json\r\n";
  const auto raw = [&](const std::string& fields, const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\n" + fields +
           "Content-Length: " + std::to_string(chat.size()) + "\r\n\r\n" + chat;
  };
  const std::string path = "/v1/chat/completions";
  check(post(chat, key), 200, "X-Layard-Request-Id");
  check(post(chat, "X-Api-Key: key-bob-1\r\n"), 200, "");
  check(post(chat), 401, "WWW-Authenticate: Bearer");
  check(post(chat, "Authorization: Bearer wrong-key\r\n"), 401, "invalid_api_key");
  check(post(chat, "", "/v1/messages"), 401, R"("type":"error")");
  check(raw("Host: evil.example\r\n" + json + key, path), 421, "");
  check(raw("Host: localhost\r\nOrigin: http://evil.example\r\n" + json + key, path), 403, "");
  check(raw("Host: localhost\r\n" + key, path), 415, "application/json");
  check(raw("Host: localhost\r\nContent-Type: text/plain\r\n" + key, path), 415, "");
  check(raw("Host: localhost\r\n" + json + key, "/v1/nothing"), 404, "");
  check(get(path), 405, "Allow: POST");
  // Order: what is wrong first is said first.
  check(raw("Host: evil.example\r\nOrigin: http://evil.example\r\n", "/v1/nothing"), 421, "");
  check(raw("Host: localhost\r\n", path), 401, "");
  check(get("/v1/models"), 401, "");
  check(get("/v1/models", "Host: localhost\r\n" + key), 200, R"("cpu")");
  check(get("/health"), 200, "");
  check(get("/ready"), 200, R"({"ready":true})");
  check(get("/metrics"), 200, "# TYPE");  // bound to loopback: the machine's own users may look
  check(get("/gateway/status"), 200, "");
  EXPECT_EQ(cpu.seen(), 2U);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(GatewayHandler, TheServersOwnRefusalsHaveTheApisForm) {
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}},
                      .options = [](GatewayOptions& o) { o.http.body_bytes_max = 100; }});
  const std::string response = world.chat(std::string(200, 'a'));
  EXPECT_EQ(status_of(response), 413);
  EXPECT_NE(response.find(R"({"error":{)"), std::string::npos);
  EXPECT_EQ(field_of(response, "X-1bit-Route"), "- 0.00 -");
}

TEST(GatewayHandler, CallersHaveLimits) {
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest& request) {
    if (request.body.find("stay") == std::string::npos) {
      connection.send(FakeDevice::response("{}"));
      return;
    }
    cpu.wait_for_end(connection);
    connection.close();
  });
  const std::string alice = "Authorization: Bearer key-alice\r\n";
  const std::string bob = "Authorization: Bearer key-bob-1\r\n";
  const auto refused = [](const std::string& response) {
    return status_of(response) == 429 && !field_of(response, "Retry-After").empty() &&
           response.find("rate_limit_exceeded") != std::string::npos;
  };
  {
    GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}, .options = [](GatewayOptions& o) {
                          use_keys(o);
                          o.limits.requests_max = 1;
                        }});
    TcpClient stays = world.connect();
    stays.send(post(chat_body("stay"), alice));
    EXPECT_TRUE(comes_true([&] { return cpu.seen() == 1; }));
    EXPECT_TRUE(refused(world.chat("x", alice)));
    EXPECT_EQ(status_of(world.chat("x", bob)), 200);
    stays.close();
    EXPECT_TRUE(world.becomes_idle()) << world.busy();
    EXPECT_EQ(status_of(world.chat("x", alice)), 200);
    EXPECT_EQ(world.core().limiter.in_flight(), 0U);
  }
  {
    GatewayWorld world({.policy = {{{"cpu", at(cpu)}}},
                        .options = [](GatewayOptions& o) { o.limits.per_minute = 2; }});
    EXPECT_EQ(status_of(world.chat("x")), 200);
    EXPECT_EQ(status_of(world.chat("x")), 200);
    EXPECT_TRUE(refused(world.chat("x")));  // without keys, by address
    EXPECT_EQ(status_of(world.ask(get("/v1/models"))), 200);
  }
}

TEST(GatewayHandler, ReloadSaysWhatWasWrong) {
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}});
  world.on_reload = [] { return std::string("line 3 is wrong"); };
  const std::string bad = world.ask(post("{}", "", "/gateway/reload"));
  EXPECT_EQ(status_of(bad), 422);
  EXPECT_NE(bad.find(R"("error":"line 3 is wrong")"), std::string::npos) << bad;
  world.on_reload = [] { return std::string(); };
  const std::string good = world.ask(post("{}", "", "/gateway/reload"));
  EXPECT_EQ(status_of(good), 200);
  EXPECT_NE(good.find(R"("taken":true)"), std::string::npos) << good;
}

TEST(GatewayHandler, ManyThreadsServe) {
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}},
                      .options = [](GatewayOptions& o) { o.http.io_threads = 3; }});
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) good += status_of(world.chat("x")) == 200 ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 60);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

}  // namespace
}  // namespace layard::gateway
