/// Does a loaded checkpoint compute, on this device and in this number format, what its own
/// recorded outputs say?
#pragma once

#include "runtime/loaded_model.h"
#include "validation/parity.h"

namespace layard::runtime {

/// Runs the shortest recorded row of each question type of the folder's goldens.jsonl, twice, and
/// compares. Milliseconds for small checkpoints; `layard parity` compares everything. Nothing is
/// done, and nothing is wrong, where the folder has no such file or it is larger than
/// kSelfTestGoldensBytesMax, or where rows are laid out in parallel (goldens hold no positions).
/// `forward` runs rows on the model's device, without near ties being decided again.
/// Errors: kBackendUnavailable (other numbers than recorded: which file, how far off, what to do);
/// kInvalidRequest (a malformed file); those of `forward`.
/// Thread-safety: that of `forward`.
Status golden_self_test(const LoadedModel& model, const validation::Forward& forward);

inline constexpr std::uint64_t kSelfTestGoldensBytesMax = std::uint64_t{16} << 20U;

}  // namespace layard::runtime
