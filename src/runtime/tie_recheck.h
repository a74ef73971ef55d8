/// Finding the rows of a request that a reduced number format may have decided wrongly.
///
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "decision/calibration.h"
#include "encoder/rows.h"
#include "layard/question.h"

namespace layard::runtime {

/// Indices into `outputs` of the rows whose answers are near ties (decision::near_tie), ascending.
/// Outputs of every row: passes in order, questions in order inside a pass (in all the orders that
/// are asked); each window's and each order's answer counts by itself. Whether a row is listed
/// depends on its own output alone. Rows that cannot be decoded are not listed; finish() reports
/// them.
std::vector<std::size_t> near_tie_rows(const QuestionSet& questions,
                                       std::span<const encoder::RowOutput> outputs,
                                       const decision::Calibration& calibration);

}  // namespace layard::runtime
