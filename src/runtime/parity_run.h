/// `layard parity`: the gate over one loaded model.
#pragma once

#include <string_view>

#include "layard/model.h"
#include "runtime/loaded_model.h"
#include "validation/parity.h"

namespace layard::runtime {

/// Runs the gate over `goldens`, or over the model's own goldens.jsonl when none are given.
/// Errors: kInvalidRequest (malformed goldens, none given and none shipped) and the forward's.
Result<Model::ParityReport> run_parity(const LoadedModel& model,
                                       std::optional<std::string_view> goldens,
                                       const std::string& dtype, const validation::Forward& forward,
                                       const validation::ProgressFunction& progress);

}  // namespace layard::runtime
