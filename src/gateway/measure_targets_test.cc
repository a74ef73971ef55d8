#include "gateway/measure_targets.h"

#include <gtest/gtest.h>

#include "support/memory_filesystem.h"

namespace layard::gateway {
namespace {

RoutePolicy policy_of_three() {
  RoutePolicy out;
  for (const char* name : {"a", "b", "named"}) {
    PolicyDevice device;
    device.name = name;
    if (device.name != "named") device.url = "http://127.0.0.1:9001";
    out.servers.push_back(device);
  }
  out.servers[1].model = "chat";
  out.servers[1].api_key_env = "B_KEY";
  return out;
}

TEST(MeasureTargets, DevicesOfThePolicy) {
  layard::testing::MemoryFilesystem files;
  using Values = std::map<std::string, std::string, std::less<>>;
  const base::FixedEnv env(Values{{"B_KEY", "sesame-sesame"}});
  const auto all = measure_targets(policy_of_three(), {}, env, files);
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].upstream.port, 9001U);
  EXPECT_EQ((*all)[0].api_key, "");
  EXPECT_EQ((*all)[1].api_key, "sesame-sesame");
  EXPECT_EQ((*all)[1].device.model, "chat");
  const auto chosen =
      measure_targets(policy_of_three(), {{"b", "a"}, {{"a", 16'000'000'000}}}, env, files);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ((*chosen)[0].device.name, "b");
  EXPECT_EQ((*chosen)[1].device.resident_bytes, 16e9);
}

TEST(MeasureTargets, WhatCannotBeMeasured) {
  layard::testing::MemoryFilesystem files;
  const base::FixedEnv env(std::map<std::string, std::string, std::less<>>{});
  struct Case {
    TargetChoice choice;
    const char* said;
  };
  const Case cases[] = {
      {{{"named"}, {}}, "'named' has no url"},
      {{{"c"}, {}}, "those that have one: a, b"},
      {{{"a", "a"}, {}}, "twice"},
      {{{"a"}, {{"b", 1}}}, "memory is given for 'b'"},
      {{{"b"}, {}}, "B_KEY"},
  };
  for (const auto& [choice, said] : cases) {
    const auto found = measure_targets(policy_of_three(), choice, env, files);
    ASSERT_FALSE(found.ok()) << said;
    EXPECT_NE(found.error().message.find(said), std::string::npos) << found.error().message;
  }
  EXPECT_FALSE(measure_targets(RoutePolicy(), {}, env, files).ok());
}

TEST(MeasureTargets, SizesAndHashes) {
  EXPECT_EQ(*resident_size("16GB"), 16'000'000'000U);
  EXPECT_FALSE(resident_size("much").ok());
  EXPECT_TRUE(check_model_hash(std::string(64, 'a')).ok());
  EXPECT_FALSE(check_model_hash(std::string(64, 'A')).ok());
}

TEST(MeasureTargets, TheMachineAndTheDay) {
  EXPECT_EQ(profile_text("processor\t: 0\nmodel name\t: AMD EPYC 9V74\nx\n", 16),
            "AMD EPYC 9V74, 16 threads");
  EXPECT_EQ(profile_text("", 1), "unknown processor, 1 thread");
  EXPECT_FALSE(machine_profile().empty());
  EXPECT_EQ(date_text(0), "1970-01-01");
  EXPECT_EQ(date_text(1'795'564'800), "2026-11-25");
  EXPECT_EQ(date_text(-5), "1970-01-01");
  EXPECT_EQ(date_text(std::int64_t{1} << 60), "9999-12-31");
  EXPECT_EQ(date_today().size(), 10U);
}

}  // namespace
}  // namespace layard::gateway
