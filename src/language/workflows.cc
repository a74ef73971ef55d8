#include "language/workflows.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace layard::language {
namespace {

constexpr std::size_t kIds = 5;

struct Workflow {
  std::string_view name;
  std::array<std::string_view, kIds> ids;
};

constexpr Workflow kWorkflows[] = {
    {"agent_trace_observability", {"action", "needs_review", "outcome", "risk", "urgency"}},
    {"customer_service", {"action", "category", "churn_risk", "needs_human", "urgency"}},
    {"invoice_processing",
     {"discrepancy_severity", "disposition", "duplicate", "matches_order", "urgency"}},
    {"security_incidents",
     {"credential_compromise", "disposition", "severity", "true_positive", "urgency"}},
};

}  // namespace

std::optional<std::string_view> workflow_of(const QuestionSet& questions) {
  // Ids are distinct, so with equal counts every id found means equal sets.
  if (questions.questions.size() != kIds) return std::nullopt;
  for (const Workflow& workflow : kWorkflows) {
    const bool all = std::ranges::all_of(questions.questions, [&](const Question& question) {
      return std::ranges::find(workflow.ids, question.id) != workflow.ids.end();
    });
    if (all) return workflow.name;
  }
  return std::nullopt;
}

}  // namespace layard::language
