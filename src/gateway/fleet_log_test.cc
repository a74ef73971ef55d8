#include "gateway/fleet_log.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(FleetLog, ALineForEachChange) {
  RoutePolicy policy;
  policy.servers.resize(2);
  policy.servers[0].name = "gpu0";
  policy.servers[1].name = "gpu1";
  std::string told;
  const base::EventLog log(base::LogFormat::kText, base::LogLevel::kInfo,
                           [&](std::string_view level, std::string_view line) {
                             told += std::string(level) + "|" + std::string(line) + "\n";
                           });
  log_fleet_changes(log, policy, {});
  EXPECT_EQ(told, "");
  using State = DeviceState;
  log_fleet_changes(log, policy,
                    {{1, {State::kHealthy, State::kEjected, DeviceSign::kProbeFailed}},
                     {0, {State::kEjected, State::kHalfOpen, DeviceSign::kRetryTime}},
                     {0, {State::kHalfOpen, State::kHealthy, DeviceSign::kServed}},
                     {0, {State::kHalfOpen, State::kEjected, DeviceSign::kHeadTimeout}},
                     {1, {State::kHealthy, State::kDraining, DeviceSign::kDrain}}});
  EXPECT_EQ(told,
            "warning|device device=\"gpu1\" from=\"healthy\" to=\"ejected\" by=\"probe_failed\"\n"
            "info|device device=\"gpu0\" from=\"ejected\" to=\"half_open\" by=\"retry_time\"\n"
            "info|device device=\"gpu0\" from=\"half_open\" to=\"healthy\" by=\"served\"\n"
            "warning|device device=\"gpu0\" from=\"half_open\" to=\"ejected\" by=\"head_timeout\"\n"
            "info|device device=\"gpu1\" from=\"healthy\" to=\"draining\" by=\"drain\"\n");
}

}  // namespace
}  // namespace layard::gateway
