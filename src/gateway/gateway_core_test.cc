#include "gateway/gateway_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <thread>

#include "support/policy_setup.h"

namespace layard::gateway {
namespace {

GatewaySetupPtr setup_of(const std::string& device, std::int64_t entries_max) {
  return testing::read_setup({"version: 1\ndefault: " + device +
                              "\nclasses: {code: {device: " + device +
                              "}}\nsticky: {ttl_s: 5, max_entries: " + std::to_string(entries_max) +
                              "}\ndevices: {" + device + ": {url: \"http://127.0.0.1:9001\"}}\n"})
      .value();
}

GatewayOptions options_of_one_caller() {
  GatewayOptions options;
  options.keys = {{"alice", "key-0001"}};
  options.allowed_hosts = {"gateway.example"};
  return options;
}

struct World {
  explicit World(std::int64_t entries_max = 8) : first(setup_of("gpu0", entries_max)) {}

  const GatewayOptions options = options_of_one_caller();
  base::EventLog log{base::LogFormat::kText, base::LogLevel::kInfo, nullptr};
  GatewaySetupPtr first;
  GatewayCore core{options, first, nullptr, nullptr, log};
};

TEST(GatewayCore, RequestIds) {
  World world;
  const std::string first = world.core.next_request_id();
  EXPECT_TRUE(std::regex_match(first, std::regex("gw[0-9a-f]{8}-1"))) << first;
  EXPECT_EQ(world.core.next_request_id(), first.substr(0, first.size() - 1) + "2");
  EXPECT_NE(World().core.next_request_id(), first) << "of another process";
  std::vector<std::thread> threads;
  std::array<std::vector<std::string>, 4> ids;
  for (auto& mine : ids) {
    threads.emplace_back([&world, &mine] {
      for (int i = 0; i < 500; ++i) mine.push_back(world.core.next_request_id());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& mine : ids) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 2000U);
}

TEST(GatewayCore, RandomBytes) {
  World world;
  const auto first = world.core.random_bytes();
  EXPECT_NE(world.core.random_bytes(), first);
  // All of them: each byte differs in some try.
  std::array<std::uint8_t, 24> seen{};
  for (int i = 0; i < 20; ++i) {
    const auto bytes = world.core.random_bytes();
    for (std::size_t j = 0; j < bytes.size(); ++j) seen[j] |= bytes[j];
  }
  EXPECT_EQ(std::ranges::count(seen, 0), 0);
  EXPECT_TRUE(fill_random(nullptr, 0).ok());
}

TEST(GatewayCore, Reloads) {
  World world;
  GatewayCore& core = world.core;
  EXPECT_EQ(core.setup(), world.first);
  EXPECT_EQ(core.reload_state().time_ms, 0);
  core.refuse_setup("line 3 is wrong");
  EXPECT_EQ(core.setup(), world.first) << "the old one stays";
  EXPECT_EQ(core.reload_state().error, "line 3 is wrong");
  EXPECT_EQ(core.reload_state().refused, 1U);
  EXPECT_EQ(core.reload_state().taken, 0U);
  EXPECT_GT(core.reload_state().time_ms, 1'600'000'000'000);
  const GatewaySetupPtr second = setup_of("gpu1", 8);
  core.replace_setup(second);
  EXPECT_EQ(core.setup(), second);
  EXPECT_EQ(core.reload_state().error, "") << "the last one was taken";
  EXPECT_EQ(core.reload_state().refused, 1U);
  EXPECT_EQ(core.reload_state().taken, 1U);
  EXPECT_GT(core.reload_state().time_ms, 1'600'000'000'000);
  EXPECT_EQ(world.first->device_names(), (std::vector<std::string>{"gpu0"}))
      << "requests of the old one go on with it";
}

TEST(GatewayCore, CallersAreThoseOfTheOptions) {
  World world;
  EXPECT_TRUE(world.core.callers.needs_key());
  http::Fields fields;
  fields.add("Host", "gateway.example:8643");
  fields.add("Authorization", "Bearer key-0001");
  EXPECT_TRUE(world.core.callers.takes_host(fields));
  EXPECT_EQ(world.core.callers.caller_of(fields), "alice");
  http::Fields other;
  other.add("Host", "other.example");
  EXPECT_FALSE(world.core.callers.takes_host(other)) << "as the host is loopback's";
}

TEST(GatewayCore, ConversationsAreKeptAsThePolicySays) {
  World world(2);
  StickyTable& sticky = world.core.sticky;
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const auto begin = [&](std::uint8_t name, std::int64_t now_s) {
    StickyKey key{};
    key[0] = name;
    return sticky.begin(key, now_s * kSecondNs, nullptr);
  };
  for (const std::uint8_t name : std::array<std::uint8_t, 3>{1, 2, 3}) {
    begin(name, 0).turn.finish({"code", 0.5, {}, DecisionSource::kModel}, 0);
  }
  EXPECT_EQ(sticky.size(), 2U);
  EXPECT_EQ(begin(3, 4).kind, StickyBegin::Kind::kHit);
  EXPECT_EQ(begin(3, 8).kind, StickyBegin::Kind::kHit) << "used 4 s before";
  EXPECT_EQ(begin(3, 13).kind, StickyBegin::Kind::kFirst) << "unused for 5 s";
}

}  // namespace
}  // namespace layard::gateway
