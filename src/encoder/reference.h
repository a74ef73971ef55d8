/// The slow scalar forward: the oracle that every backend is tested against.
#pragma once

#include <span>

#include "encoder/rows.h"
#include "encoder/weights.h"
#include "layard/error.h"

namespace layard::encoder {

/// Checks what a forward requires of its rows (see ModelRow).
/// Errors: kUnsupportedShape (BERT row longer than its position table), kInternal (the rest: rows
/// are built by us).
Status check_rows(const EncoderConfig& config, std::span<const ModelRow> rows);

/// Runs each row alone: float32 activations, sums in double.
/// Shapes: one output per row; logits [markers], act [act_outputs].
/// Errors: those of check_rows.
/// Source: laya 0.4.15 common.DecisionModel; transformers 5.x modeling_modernbert, modeling_bert.
Status reference_forward(const ModelWeights& weights, std::span<const ModelRow> rows,
                         std::span<RowOutput> outputs);

}  // namespace layard::encoder
