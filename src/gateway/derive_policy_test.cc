#include "gateway/derive_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/derive_print.h"
#include "gateway/derive_write.h"
#include "gateway/policy_check.h"
#include "support/simulated_fleet.h"

namespace layard::gateway {
namespace {

using layard::testing::SimulatedDevice;
using layard::testing::SimulatedFleet;

// Qwen3.8-27B on Strix Halo, decode tokens/s of code, prose and short. Source: the seed's table
// (DFlash2, MTP); 1bit-MONSTER/engine docs/laya.md (MTP on ROCm; without a drafter 12.2, 12.0 and
// 12.0, taken for HRX; HRX reads 98 tokens/s). Long documents decode as prose does.
SimulatedDevice vulkan() { return {"vulkan", 80, 300, {45.7, 28.3, 17.8, 28.3}}; }
SimulatedDevice vulkan_mtp() { return {"vulkan-mtp", 80, 300, {31.7, 25.8, 28.2, 25.8}, 16e9}; }
SimulatedDevice rocm() { return {"rocm", 80, 300, {38.8, 20.6, 16.9, 20.6}}; }
SimulatedDevice hrx() { return {"hrx", 80, 98, {12.2, 12.0, 12.0, 12.0}}; }

// Time of a decision on the CPU, seed; with an accelerator, docs/laya.md.
constexpr double kSlowDecisionMs = 500;
constexpr double kFastDecisionMs = 31;

Derivation derive(const SimulatedFleet& fleet, const DeriveOptions& options,
                  const Confusion& confusion = Confusion()) {
  auto found =
      derive_policy(fleet.evidence(), RoutePolicy::built_in(), confusion, std::nullopt, options);
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
  return found.ok() ? *std::move(found) : Derivation{};
}

const DerivedRow& row_of(const Derivation& derivation, std::string_view class_name) {
  return *std::ranges::find(derivation.rows, class_name, &DerivedRow::class_name);
}

void expect_words(const DerivedRow& row, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    EXPECT_NE(row.why.find(word), std::string::npos) << word << " in: " << row.why;
  }
}

SimulatedFleet drafters() {
  SimulatedFleet fleet;
  fleet.devices = {vulkan(), vulkan_mtp()};
  fleet.spread = 0;
  return fleet;
}

TEST(Derive, SeedDrafter) {
  const Derivation found = derive(drafters(), {.decision_ms = kSlowDecisionMs});
  EXPECT_EQ(found.default_device, "vulkan");
  struct Case {
    const char* name;
    double dflash2;
    double mtp;
    double tokens;
  };
  for (const auto& [name, dflash2, mtp, tokens] :
       {Case{"code", 45.7, 31.7, 200}, {"prose", 28.3, 25.8, 200}, {"short", 17.8, 28.2, 16}}) {
    const DerivedRow& row = row_of(found, name);
    EXPECT_EQ(row.device, "vulkan") << name;
    EXPECT_EQ(row.other, "vulkan-mtp") << name;
    EXPECT_NEAR(row.default_speed.decode_tps, dflash2, 0.01) << name;
    EXPECT_NEAR(row.other_speed.decode_tps, mtp, 0.01) << name;
    EXPECT_NEAR(row.gain.mean, decode_gain_ms(tokens, dflash2, mtp), 10) << name;
    EXPECT_EQ(row.prompts, 24U);
  }
  EXPECT_EQ(row_of(found, "code").verdict, RowVerdict::kFastest);
  expect_words(row_of(found, "code"),
               {"vulkan is fastest", "1.9", "writes 31.7 instead of 45.7 tokens/s"});
}

TEST(Derive, ShortToMtp) {
  DeriveOptions options{.decision_ms = kSlowDecisionMs};
  const DerivedRow stays = row_of(derive(drafters(), options), "short");
  EXPECT_EQ(stays.device, "vulkan");
  EXPECT_NEAR(stays.gain.mean, 331, 1);
  EXPECT_NEAR(stays.break_even_output.value_or(0), 24.1, 0.05);
  EXPECT_EQ(stays.verdict, RowVerdict::kMemoryUnpriced);
  expect_words(stays, {"saves 331.5 ms", "500.0 ms breaks even at 24.1 tokens, and a reply has 16",
                       "16.0 GB"});
  // 331 ms of 16 GB are 20.7 ms a GB, at the lower end somewhat less.
  options.memory_budget_bytes = 32e9;
  options.ms_per_gb = 21;
  const DerivedRow dear = row_of(derive(drafters(), options), "short");
  EXPECT_EQ(dear.verdict, RowVerdict::kMemoryTooDear);
  expect_words(dear, {"not worth it", "24.1 tokens"});
  options.memory_budget_bytes = 15e9;
  options.ms_per_gb = 1;
  EXPECT_EQ(row_of(derive(drafters(), options), "short").verdict, RowVerdict::kMemoryTooMuch);
  // With memory to spare only the questions stand against it, and with fast ones nothing.
  options.memory_budget_bytes = 32e9;
  const DerivedRow asking = row_of(derive(drafters(), options), "short");
  EXPECT_EQ(asking.verdict, RowVerdict::kAskingCosts);
  expect_words(asking, {"asking costs 375.0 ms", "24.1 tokens"});
  options.decision_ms = kFastDecisionMs;
  const Derivation fast = derive(drafters(), options);
  EXPECT_EQ(row_of(fast, "short").device, "vulkan-mtp");
  EXPECT_NEAR(row_of(fast, "short").break_even_output.value_or(0), 1.5, 0.05);
  EXPECT_EQ(row_of(fast, "code").device, "vulkan");
  // Many turns share one decision; nobody knows what a decision takes.
  options.decision_ms = kSlowDecisionMs;
  options.turns = 10;
  EXPECT_EQ(row_of(derive(drafters(), options), "short").device, "vulkan-mtp");
  options.decision_ms.reset();
  EXPECT_EQ(row_of(derive(drafters(), options), "short").verdict, RowVerdict::kDecisionUnknown);
}

// 18 % of prose is read as short and is slower there: the row gains 0.176 s instead of 0.331.
TEST(Derive, MisroutesAreCounted) {
  Confusion confusion;
  confusion.rows = {{"prose", {{"prose", 41}, {"short", 9}}}};
  const DerivedRow row =
      row_of(derive(drafters(), {.decision_ms = kFastDecisionMs}, confusion), "short");
  EXPECT_NEAR(row.gain.mean, (331 - 0.18 * 685) / 1.18, 3);
  expect_words(row, {"misroutes counted"});
}

TEST(Derive, EveryClassToVulkan) {
  SimulatedFleet fleet;
  fleet.devices = {vulkan(), vulkan_mtp(), rocm(), hrx()};
  fleet.noise = 0.02;
  for (const auto& decision_ms : {std::optional<double>(), std::optional(kSlowDecisionMs)}) {
    DeriveOptions options{.evidence_file = "seed.json", .decision_ms = decision_ms};
    const Derivation found = derive(fleet, options);
    ASSERT_EQ(found.rows.size(), 4U);
    for (const DerivedRow& row : found.rows) {
      EXPECT_EQ(row.device, "vulkan") << row.class_name;
      EXPECT_TRUE(row.why.starts_with("stays: ")) << row.why;
    }
    const auto text = write_derived_policy(found, fleet.evidence(), {}, options);
    ASSERT_TRUE(text.ok()) << text.error().message;
    const auto policy = RoutePolicy::parse(*text, "p.json");
    ASSERT_TRUE(policy.ok()) << policy.error().message;
    EXPECT_EQ(policy->decide.when, DecideWhen::kUseful);
    for (const char* name : layard::testing::kSimulatedClasses) {
      EXPECT_EQ(policy->row(name)->device, "vulkan");
      EXPECT_FALSE(policy->row(name)->why.empty());
    }
  }
}

// HRX read 98 tokens/s and ROCm 352 at 2,048 tokens; later HRX read 310. A copy for ROCm takes
// 16 GB, at 100 ms a GB. Source: 1bit-MONSTER/engine config/route-policy.json, three versions.
TEST(Derive, LongDocumentsMoveAndMoveBack) {
  SimulatedFleet fleet;
  fleet.devices = {{"hrx", 80, 98, {20, 20, 20, 20}}, {"rocm", 80, 352, {20, 20, 20, 20}, 16e9}};
  DeriveOptions options;
  options.memory_budget_bytes = 32e9;
  options.ms_per_gb = 100;
  const Derivation moved = derive(fleet, options);
  const DerivedRow& row = row_of(moved, "long_doc");
  EXPECT_EQ(row.device, "rocm");
  EXPECT_TRUE(row.by_size);
  EXPECT_NEAR(row.gain.mean, 15080, 20);
  expect_words(row, {"moved: rocm saves 15.1 s", "reads 352 instead of 98.0 tokens/s",
                     "the size tells the class, so nothing is asked"});
  EXPECT_EQ(row_of(moved, "code").device, "hrx");
  fleet.devices[0].prefill_tps = 310;
  const DerivedRow back = row_of(derive(fleet, options), "long_doc");
  EXPECT_EQ(back.device, "hrx");
  EXPECT_EQ(back.verdict, RowVerdict::kMemoryTooDear);
  EXPECT_NEAR(back.gain.mean, 788, 5);
  expect_words(back, {"stays: rocm saves 788.3 ms", "16.0 GB", "less than the 100.0 asked"});
}

TEST(Derive, SameBytesTwice) {
  SimulatedFleet fleet;
  fleet.devices = {vulkan(), rocm(), hrx()};
  fleet.noise = 0.1;
  const auto run = [&] {
    const DeriveOptions options{.decision_ms = kFastDecisionMs};
    const Derivation found = derive(fleet, options);
    return *write_derived_policy(found, fleet.evidence(), {}, options) + print_derivation(found) +
           derivation_json(found);
  };
  EXPECT_EQ(run(), run());
}

TEST(Derive, WhatWasNotMeasuredStays) {
  SimulatedFleet fleet;
  fleet.devices = {vulkan()};
  EXPECT_EQ(row_of(derive(fleet, {}), "code").verdict, RowVerdict::kOnlyDevice);
  fleet.devices = {vulkan(), hrx()};
  MeasuredEvidence evidence = fleet.evidence();
  std::erase_if(evidence.cases, [](const auto& one) { return one.class_name == "short"; });
  std::erase_if(evidence.requests, [](const auto& one) { return one.class_name == "short"; });
  const auto found =
      derive_policy(evidence, RoutePolicy::built_in(), {}, std::nullopt, DeriveOptions{});
  EXPECT_EQ(row_of(*found, "short").verdict, RowVerdict::kNotMeasured);
  LoggedDecisions log;
  log.decisions = {{"code", true, 20, 40, 100, 2}};
  const auto logged = derive_policy(evidence, RoutePolicy::built_in(), {}, log, DeriveOptions{});
  EXPECT_EQ(row_of(*logged, "prose").verdict, RowVerdict::kNoTraffic);
  EXPECT_EQ(logged->decision_ms, 20);
  EXPECT_EQ(logged->turns, 2);
  EXPECT_FALSE(
      derive_policy(evidence, RoutePolicy::built_in(), {}, {}, {.default_device = "npu"}).ok());
  EXPECT_FALSE(derive_policy({}, RoutePolicy::built_in(), {}, {}, {}).ok());
  EXPECT_FALSE(derive_policy(evidence, RoutePolicy::built_in(), {}, {}, {.turns = 0.5}).ok());
}

}  // namespace
}  // namespace layard::gateway
