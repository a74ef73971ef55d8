#include "language/workflows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::language {
namespace {

std::string workflow(const std::vector<std::string>& ids) {
  QuestionSet set;
  for (const std::string& id : ids) set.questions.emplace_back().id = id;
  return std::string(workflow_of(set).value_or(""));
}

TEST(Workflows, ExactSetsOnly) {
  EXPECT_EQ(workflow({"action", "needs_review", "outcome", "risk", "urgency"}),
            "agent_trace_observability");
  EXPECT_EQ(workflow({"action", "category", "churn_risk", "needs_human", "urgency"}),
            "customer_service");
  EXPECT_EQ(
      workflow({"discrepancy_severity", "disposition", "duplicate", "matches_order", "urgency"}),
      "invoice_processing");
  EXPECT_EQ(
      workflow({"credential_compromise", "disposition", "severity", "true_positive", "urgency"}),
      "security_incidents");
}

TEST(Workflows, AnyOrder) {
  EXPECT_EQ(workflow({"urgency", "needs_human", "churn_risk", "category", "action"}),
            "customer_service");
}

TEST(Workflows, NothingElse) {
  EXPECT_EQ(workflow({}), "");
  EXPECT_EQ(workflow({"urgency"}), "");
  EXPECT_EQ(workflow({"action", "category", "churn_risk", "needs_human"}), "");
  EXPECT_EQ(workflow({"action", "category", "churn_risk", "needs_human", "Urgency"}), "");
  EXPECT_EQ(workflow({"action", "category", "churn_risk", "needs_human", "urgency", "more"}), "");
  EXPECT_EQ(workflow({"action", "category", "churn_risk", "needs_human", "risk"}), "");
}

}  // namespace
}  // namespace layard::language
