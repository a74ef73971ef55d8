#include "runtime/tie_recheck.h"

#include "base/checks.h"
#include "decision/near_tie.h"

namespace layard::runtime {

std::vector<std::size_t> near_tie_rows(const QuestionSet& questions,
                                       std::span<const encoder::RowOutput> outputs,
                                       const decision::Calibration& calibration) {
  const std::size_t count = questions.questions.size();
  LAYARD_CHECK(count > 0 && outputs.size() % count == 0);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Question& question = questions.questions[i % count];
    const auto near = decision::near_tie(question, outputs[i].logits, calibration);
    if (near.ok() && *near) rows.push_back(i);
  }
  return rows;
}

}  // namespace layard::runtime
