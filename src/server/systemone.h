/// The answer of /v1/systemone and its batch form: our answers as the wire has them.
///
/// Source: laya 0.4.15 serve (members, their order, the strict form, the batch form), laya-apple
/// 1.7.0 (`layard` has the members of its block). Departs: the block also has `dtype`, `cached`
/// and, where `auto` chose, `model_routing`. Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/service.h"
#include "server/checks.h"

namespace layard::server {

/// One answer as compact JSON: `model`, `answers` (choice and score end with `x_jev_confidence`),
/// `usage`, `warnings` and `stability` where there are some, `routing` and, where a model ran,
/// `layard`. Strict:
/// what the hosted service sends and nothing else.
std::string systemone_json(ServiceAnswer answer, const Controls& controls);

/// `{"results": [...], "total_usage": {"input_tokens", "output_tokens"}}`; one answer a state.
std::string batch_json(std::vector<ServiceAnswer> answers, const Controls& controls);

/// `%.2f`, as Server-Timing and X-Inference-Time-Ms have it.
std::string two_decimals(double value);

}  // namespace layard::server
