#include "gateway/device_prober.h"

#include <gtest/gtest.h>

#include <string>

#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::at;
using testing::comes_true;
using testing::Door;
using testing::FakeDevice;
using testing::GatewayWorld;
using testing::PolicyText;
using testing::SeenRequest;
using testing::ServedConnection;

// The devices' probes go to /probe, which a test answers.
std::string probed(const FakeDevice& device, const std::string& more = "") {
  return at(device, R"("health":{"path":"/probe","interval_ms":100,"timeout_ms":200,"failures":2)" +
                        more + "}");
}

TEST(DeviceProber, TakesADeviceOutAndBringsItBack) {
  std::atomic<int> status = 200;
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::response("{}", status));
  });
  FakeDevice gpu;
  GatewayWorld world({.policy = {{{"cpu", probed(cpu)}, {"gpu", at(gpu)}}}, .probes = true});
  EXPECT_TRUE(comes_true([&] { return cpu.seen() >= 2; }));
  EXPECT_EQ(cpu.request(0).head.find("GET /probe HTTP/1.1\r\n"), 0U);
  EXPECT_EQ(world.device(0).state, DeviceState::kHealthy);
  status = 500;
  EXPECT_TRUE(comes_true([&] { return world.device(0).state == DeviceState::kEjected; }));
  EXPECT_NE(world.log().find("device"), std::string::npos);
  status = 200;
  EXPECT_TRUE(comes_true([&] { return world.device(0).state == DeviceState::kHealthy; }));
  EXPECT_EQ(world.device(1).state, DeviceState::kHealthy);
  EXPECT_GE(gpu.probes(), 1U);
}

TEST(DeviceProber, ADeviceThatSaysNothingIsOut) {
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
    cpu.wait_for_end(connection);
    connection.close();
  });
  FakeDevice endless([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead);
    while (connection.send(FakeDevice::chunk("{}"))) {
    }
    connection.close();
  });
  GatewayWorld world(
      {.policy = {{{"cpu", probed(cpu)}, {"endless", probed(endless)}}}, .probes = true});
  EXPECT_TRUE(comes_true([&] { return world.device(0).state == DeviceState::kEjected; }));
  // It answers; how much does not matter, and no more is read than is needed.
  EXPECT_TRUE(comes_true([&] { return endless.seen() >= 3; }));
  EXPECT_EQ(world.device(1).state, DeviceState::kHealthy);
}

TEST(DeviceProber, AfterAReloadTheNewDevicesAreProbed) {
  FakeDevice old;
  FakeDevice fresh;
  GatewayWorld world({.policy = {{{"old", probed(old)}}}, .probes = true});
  EXPECT_TRUE(comes_true([&] { return old.seen() >= 1; }));
  world.put_policy({{{"fresh", probed(fresh)}}});
  EXPECT_TRUE(comes_true([&] { return fresh.seen() >= 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // one that was on its way
  const std::size_t before = old.seen();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(old.seen(), before);
}

TEST(DeviceProber, EndsWithAProbeUnderWay) {
  for (int round = 0; round < 5; ++round) {
    FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
      cpu.wait_for_end(connection);
      connection.close();
    });
    GatewayWorld world(
        {.policy = {{{"cpu", at(cpu, R"("health":{"path":"/probe","timeout_ms":60000})")}}},
         .probes = true});
    EXPECT_TRUE(comes_true([&] { return cpu.seen() >= 1; }));
  }
}

}  // namespace
}  // namespace layard::gateway
