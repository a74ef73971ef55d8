/// Orders of options as JSON: how many a request asks for, and `stability` in its answer. Private
/// to the codec.
///
/// Source: none (ours). Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "base/json.h"
#include "layard/answer.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// `orders`, or `stability` in its place; nothing where a request has neither (null counts as
/// absent). Errors: kInvalidRequest naming the member.
Result<std::optional<int>> read_orders(const base::JsonValue& request);

/// The member `stability` of a result: {question: {"orders", "agreement", "spread", "choices"}},
/// without the last three for one order.
base::JsonValue stability_to_json(const std::vector<OrderStability>& stability);

/// What stability_to_json gave. Errors: kInvalidRequest naming the member.
Result<std::vector<OrderStability>> read_stability(const base::JsonValue& value);

/// A label that stands as a value in an answer.
Label label_of(const base::JsonValue& value);

}  // namespace layard::decision
