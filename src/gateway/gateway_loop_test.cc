#include "gateway/gateway_loop.h"

#include <gtest/gtest.h>

#include <string>

#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::at;
using testing::chat_body;
using testing::comes_true;
using testing::FakeClasses;
using testing::FakeDevice;
using testing::GatewayWorld;
using testing::post;
using testing::SeenRequest;
using testing::ServedConnection;
using testing::TcpClient;

DeviceLink link_to(const FakeDevice& device, const std::string& key) {
  DeviceLink link;
  link.upstream = *http::parse_upstream(device.url());
  link.client_key = key;
  return link;
}

// Runs `call` on the world's loop and waits for it.
void on_loop(GatewayWorld& world, const std::function<void(GatewayLoop&)>& call) {
  std::atomic<bool> done = false;
  ASSERT_TRUE(comes_true([&] {
    return world.handler().on_some_loop([&](GatewayLoop& loop) {
      call(loop);
      done = true;
    });
  }));
  ASSERT_TRUE(comes_true([&] { return done.load(); }));
}

TEST(GatewayLoop, ADeviceHasOneClient) {
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}});
  on_loop(world, [&](GatewayLoop& loop) {
    const auto one = loop.client(link_to(cpu, "a"));
    const auto same = loop.client(link_to(cpu, "a"));
    const auto other = loop.client(link_to(cpu, "b"));
    ASSERT_TRUE(one.ok() && same.ok() && other.ok());
    EXPECT_EQ(*one, *same);
    EXPECT_NE(*one, *other);
    DeviceLink bad = link_to(cpu, "c");
    bad.upstream.tls = true;
    bad.tls.ca_file = "/nowhere/ca.pem";
    EXPECT_FALSE(loop.client(bad).ok());
    for (std::size_t i = 0; i < GatewayLoop::kClientsMax + 1; ++i) {
      static_cast<void>(loop.client(link_to(cpu, "many" + std::to_string(i))));
    }
    const auto full = loop.client(link_to(cpu, "one more"));
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code, ErrorCode::kOverloaded);
    EXPECT_TRUE(loop.client(link_to(cpu, "a")).ok());
  });
}

// Requests at every place where one can be, and connections to more than one device, when the
// server is cut.
TEST(GatewayLoop, EndsWithCallsUnderWay) {
  for (int round = 0; round < 10; ++round) {
    FakeClasses classes;
    FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
      cpu.wait_for_end(connection);
      connection.close();
    });
    FakeDevice gpu([&](ServedConnection& connection, const SeenRequest&) {
      connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: {}\n\n"));
      gpu.wait_for_end(connection);
      connection.close();
    });
    FakeDevice npu;
    GatewayWorld world({.policy = {{{"cpu", at(cpu, R"("requests_max":1,"queue_max":9)")},
                                    {"gpu", at(gpu)},
                                    {"npu", at(npu)}}},
                        .options = [](GatewayOptions& o) { o.http.io_threads = 2; },
                        .classes = &classes,
                        .probes = true});
    std::vector<TcpClient> clients;
    const auto send = [&](const std::string& fields, bool stream) {
      clients.push_back(world.connect());
      clients.back().send(post(chat_body("x", stream), fields));
    };
    for (int i = 0; i < 2; ++i) {
      send("X-Layard-Device: npu\r\n", false);  // its connection is kept
      send("X-Layard-Device: cpu\r\n", false);
      send("X-Layard-Device: cpu\r\n", false);
      send("X-Layard-Device: gpu\r\n", true);
      send("", false);
    }
    EXPECT_TRUE(comes_true([&] {
      return gpu.seen() == 2 && cpu.seen() == 1 && npu.seen() == 2 && classes.asked() == 1 &&
             world.device(0).waiting == 3;
    }));
    world.server().stop();
    world.server().stop();
    world.server().wait();
    EXPECT_TRUE(world.becomes_idle()) << world.busy();
    // What the model says after the end goes nowhere.
    EXPECT_TRUE(classes.answer("code"));
  }
}

TEST(GatewayLoop, DrainsThenCuts) {
  FakeDevice ends([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: {}\n\n"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    connection.send(FakeDevice::chunk("data: [DONE]\n\n") + FakeDevice::kLastChunk);
  });
  FakeDevice stays([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: {}\n\n"));
    stays.wait_for_end(connection);
    connection.close();
  });
  GatewayWorld world({.policy = {{{"ends", at(ends)}, {"stays", at(stays)}}},
                      .options = [](GatewayOptions& o) { o.http.drain_ms = 500; }});
  TcpClient one = world.connect();
  TcpClient two = world.connect();
  one.send(post(chat_body("x", true), "X-Layard-Device: ends\r\n"));
  two.send(post(chat_body("x", true), "X-Layard-Device: stays\r\n"));
  one.receive_until("data: {}");
  two.receive_until("data: {}");
  const auto begun = std::chrono::steady_clock::now();
  world.server().stop();
  EXPECT_NE(one.receive_all().find("data: [DONE]\n\n"), std::string::npos);
  const std::string cut = two.receive_all();
  EXPECT_EQ(cut.find("0\r\n\r\n"), std::string::npos);
  world.server().wait();
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(took, std::chrono::milliseconds(450));
  EXPECT_LT(took, std::chrono::milliseconds(1500));
  EXPECT_TRUE(comes_true([&] { return stays.ends() == 1; }));
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

}  // namespace
}  // namespace layard::gateway
