#include "http/refusal.h"

#include <gtest/gtest.h>

#include <set>

namespace layard::http {
namespace {

TEST(HttpRefusal, TableHasOneRowPerReason) {
  const auto table = refusal_table();
  ASSERT_EQ(table.size(), kRefusalReasons);
  EXPECT_EQ(static_cast<std::size_t>(RefusalReason::kUnanswered) + 1, kRefusalReasons);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(table[i].reason), i);
    EXPECT_TRUE(names.insert(table[i].name).second) << table[i].name;
    EXPECT_EQ(refusal_name(table[i].reason), table[i].name);
  }
}

// A client that retries 5xx must not retry what can never succeed.
TEST(HttpRefusal, OnlyTheServersOwnStateIs5xx) {
  using enum RefusalReason;
  const std::set<RefusalReason> ours = {kBodyMemory, kConnections, kUnanswered};
  for (const RefusalInfo& info : refusal_table()) {
    EXPECT_EQ(info.status >= 500, ours.contains(info.reason)) << info.name;
    EXPECT_EQ((Refusal{info.reason, ""}.status()), info.status);
  }
}

}  // namespace
}  // namespace layard::http
