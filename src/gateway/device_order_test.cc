#include "gateway/device_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace layard::gateway {
namespace {

using Names = std::vector<std::string>;

PolicyDevice device(const std::string& name, const std::string& model, const Names& capabilities,
                    std::int64_t context_tokens) {
  PolicyDevice out;
  out.name = name;
  out.model = model;
  out.capabilities = capabilities;
  out.context_tokens = context_tokens;
  return out;
}

// c has the class code; b and a are its alternates; d is the default.
RoutePolicy policy_of(std::vector<PolicyDevice> servers) {
  RoutePolicy policy;
  policy.version = 1;
  policy.min_confidence = 0.5;
  policy.default_device = "d";
  policy.rows = {{"code", "c", {"b", "a", "b"}, "", ""}, {"prose", "d", {}, "", ""}};
  policy.servers = std::move(servers);
  return policy;
}

RoutePolicy plain_policy() {
  return policy_of({device("a", "", {}, 0), device("b", "", {}, 0), device("c", "", {}, 0),
                    device("d", "", {}, 0), device("e", "", {}, 0)});
}

std::string shown(const RoutePolicy& policy, std::span<const std::size_t> devices) {
  std::string out;
  for (const std::size_t one : devices) out += policy.servers[one].name;
  return out;
}

TEST(DeviceOrder, Models) {
  RoutePolicy policy = policy_of({device("big", "m-27b", {}, 0), device("small", "m-4b", {}, 0),
                                  device("other", "m-4b", {}, 0), device("open", "", {}, 0)});
  policy.model_names = {"assistant"};
  const auto check = [&](const std::string& model, ModelMatch match,
                         const std::vector<std::size_t>& devices) {
    const DeviceCandidates found = find_candidates(policy, {.model = model});
    EXPECT_EQ(found.match, match) << model;
    EXPECT_EQ(found.devices, devices) << model;
    EXPECT_EQ(found.override_device.has_value(), match == ModelMatch::kDevice) << model;
    for (std::size_t i = 0; i < policy.servers.size(); ++i) {
      const bool is_in = std::ranges::find(devices, i) != devices.end();
      EXPECT_EQ(found.gaps[i], is_in ? DeviceGap::kNone : DeviceGap::kOtherModel) << model;
    }
  };
  check("", ModelMatch::kByClass, {0, 1, 2, 3});
  check("auto", ModelMatch::kByClass, {0, 1, 2, 3});
  check("assistant", ModelMatch::kByClass, {0, 1, 2, 3});
  check("small", ModelMatch::kDevice, {1});
  check("m-4b", ModelMatch::kModel, {1, 2});
  check("*", ModelMatch::kPassedOn, {3});
  check("gpt-9", ModelMatch::kPassedOn, {3});
  check("Assistant", ModelMatch::kPassedOn, {3});
  policy.model_names = {"m-4b", "*"};
  check("m-4b", ModelMatch::kByClass, {0, 1, 2, 3});
  check("m-27b", ModelMatch::kModel, {0});
  check("gpt-9", ModelMatch::kWildcard, {0, 1, 2, 3});
  policy.model_names = {};
  policy.servers.pop_back();
  check("gpt-9", ModelMatch::kUnknown, {});
  policy.servers.clear();
  check("", ModelMatch::kByClass, {});
  check("gpt-9", ModelMatch::kUnknown, {});
}

TEST(DeviceOrder, KnownModels) {
  RoutePolicy policy = policy_of({device("a", "m", {}, 0), device("b", "m", {}, 0),
                                  device("m2", "m2", {}, 0), device("c", "", {}, 0)});
  policy.model_names = {"assistant", "*", "b"};
  EXPECT_EQ(known_models(policy), (Names{"assistant", "b", "a", "m2", "c", "m"}));
}

TEST(DeviceOrder, Gaps) {
  const auto check = [](const Names& capabilities, std::int64_t context, const RequestNeeds& needs,
                        std::string_view expected) {
    const RoutePolicy policy = policy_of({device("a", "", capabilities, context)});
    const DeviceCandidates found = find_candidates(policy, needs);
    EXPECT_EQ(device_gap_text(found.gaps.at(0)), expected);
    EXPECT_EQ(found.devices.empty(), !expected.empty());
  };
  check({}, 0, {.tools = true, .images = true, .prompt_tokens = 1 << 20}, "");
  check({"tools"}, 0, {.tools = true}, "");
  check({"images"}, 0, {.tools = true}, "lacks tools");
  check({"tools"}, 0, {.images = true}, "lacks images");
  check({"x"}, 0, {.tools = true, .images = true}, "lacks tools");
  check({"x"}, 0, {}, "");
  check({"images", "tools"}, 0, {.tools = true, .images = true}, "");
  check({}, 100, {.prompt_tokens = 99}, "");
  check({}, 100, {.prompt_tokens = 100}, "its context is too short");
  check({"images"}, 100, {.tools = true, .prompt_tokens = 100}, "lacks tools");
  check({}, 100, {}, "");
}

TEST(DeviceOrder, AnOverrideThatCannotServe) {
  const RoutePolicy policy = policy_of({device("a", "", {"images"}, 0), device("b", "", {}, 0)});
  const DeviceCandidates found = find_candidates(policy, {.model = "a", .tools = true});
  EXPECT_EQ(found.gaps[0], DeviceGap::kLacksTools);
  EXPECT_TRUE(found.devices.empty());
  const DeviceOrder order = order_devices(policy, found.devices, found.override_device, "", 1);
  EXPECT_TRUE(order.devices.empty());
  EXPECT_TRUE(order.overridden);
}

TEST(DeviceOrder, Orders) {
  RoutePolicy policy = plain_policy();
  const auto check = [&](std::string_view class_name, double confidence,
                         const std::vector<std::size_t>& candidates, const std::string& expected,
                         DeviceRule rule, RowUse row) {
    const DeviceOrder order =
        order_devices(policy, candidates, std::nullopt, class_name, confidence);
    EXPECT_EQ(shown(policy, order.devices), expected) << class_name << confidence;
    EXPECT_EQ(order.rule, rule) << expected;
    EXPECT_EQ(order.row, row) << expected;
    EXPECT_FALSE(order.overridden);
  };
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4};
  check("code", 0.5, all, "cbade", DeviceRule::kRow, RowUse::kUsed);
  check("code", 0.49, all, "dabce", DeviceRule::kDefault, RowUse::kBelowThreshold);
  check("prose", 1, all, "dabce", DeviceRule::kRow, RowUse::kUsed);
  check("short", 1, all, "dabce", DeviceRule::kDefault, RowUse::kNoRow);
  check("", 1, all, "dabce", DeviceRule::kDefault, RowUse::kNoRow);
  check("code", 1, {0, 1, 3}, "bad", DeviceRule::kAlternate, RowUse::kDeviceAbsent);
  check("code", 1, {3, 4}, "de", DeviceRule::kDefault, RowUse::kDeviceAbsent);
  check("code", 0, {4, 2}, "ec", DeviceRule::kFirstCandidate, RowUse::kBelowThreshold);
  check("code", 1, {}, "", DeviceRule::kNone, RowUse::kDeviceAbsent);
  policy.version = 0;
  check("code", 1, all, "cdabe", DeviceRule::kRow, RowUse::kUsed);
  check("code", 1, {0, 1, 3}, "dab", DeviceRule::kDefault, RowUse::kDeviceAbsent);
  const DeviceOrder order = order_devices(policy, all, 4, "code", 1);
  EXPECT_EQ(shown(policy, order.devices), "e");
  EXPECT_TRUE(order.overridden);
}

// Whatever is left out: the first is choose_device's, and every candidate is there once.
TEST(DeviceOrder, IsAPermutationThatBeginsWithTheChoice) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 draw(seed);
  const RoutePolicy policy = plain_policy();
  for (int i = 0; i < 500; ++i) {
    std::vector<std::size_t> candidates;
    Names names;
    for (std::size_t one = 0; one < policy.servers.size(); ++one) {
      if (draw() % 2 == 0) continue;
      candidates.push_back(one);
      names.push_back(policy.servers[one].name);
    }
    const char* class_name = draw() % 2 == 0 ? "code" : "short";
    const double confidence = draw() % 2 == 0 ? 0 : 1;
    const DeviceOrder order =
        order_devices(policy, candidates, std::nullopt, class_name, confidence);
    const std::string first = pick_device(policy, class_name, confidence, names);
    ASSERT_EQ(order.devices.empty(), candidates.empty());
    if (!candidates.empty()) {
      ASSERT_EQ(policy.servers[order.devices.front()].name, first);
    }
    auto sorted = order.devices;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted, candidates);
  }
}

}  // namespace
}  // namespace layard::gateway
