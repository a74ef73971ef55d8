#include "gateway/derive_print.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/simulated_fleet.h"

namespace layard::gateway {
namespace {

TEST(DerivePrint, TheExplanation) {
  // Short replies decode three times as fast on `b`.
  layard::testing::SimulatedFleet fleet;
  fleet.devices = {{"a", 80, 300, {20, 20, 20, 20}}, {"b", 80, 300, {20, 20, 60, 20}}};
  const MeasuredEvidence evidence = fleet.evidence();
  const auto found =
      derive_policy(evidence, RoutePolicy::built_in(), {}, std::nullopt, {.decision_ms = 10});
  const std::string table = print_derivation(*found);
  EXPECT_NE(table.find("class     device  why\n"), std::string::npos) << table;
  EXPECT_NE(table.find("short     b       moved: b saves"), std::string::npos) << table;
  const auto root = base::parse_json(derivation_json(*found), {});
  ASSERT_TRUE(root.ok());
  const base::JsonValue& row = root->find("rows")->items()[2];
  EXPECT_EQ(row.find("class")->text(), "short");
  EXPECT_EQ(row.find("verdict")->text(), "moved");
  EXPECT_NEAR(row.find("other_speed")->find("decode_tps")->as_double(), 60, 0.01);
  EXPECT_TRUE(root->find("speeds")->find("usable")->as_bool());
}

}  // namespace
}  // namespace layard::gateway
