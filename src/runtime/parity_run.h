/// `layard parity`: the gate over one loaded model, and the record it leaves for `dtype auto`.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "layard/model.h"
#include "runtime/loaded_model.h"
#include "validation/parity.h"

namespace layard::runtime {

/// The gate measures one number format. Errors: kInvalidRequest for `auto`.
Status check_parity_dtype(const std::string& dtype);

/// Whether the encoder takes the rows of all cases. Errors: kInvalidRequest, as at_case() has it.
Status check_cases(const LoadedModel& model, std::span<const validation::ReferenceCase> cases);

struct ParityInput {
  /// Reference outputs; none: the model's own goldens.jsonl.
  std::optional<std::string_view> goldens;
  /// Layard's cache, where the record goes; empty: no record.
  std::filesystem::path cache;
  const base::Clock& clock;
};

/// Runs the gate over every case, twice each, without tie re-checks. Afterwards a record is written
/// when the gate passed on at least kRecordRowsMin different rows, or when it failed - on fewer
/// only where that replaces no record of a pass that counts here - unless the weights are known to
/// be random. The JSON's `record` holds `written`, `path` and, when not written, `note`
/// with the reason; a record that cannot be written does not change the gate's result.
/// Errors: kInvalidRequest (malformed goldens, none given and none shipped) and the forward's.
Result<Model::ParityReport> run_parity(const LoadedModel& model, const ParityInput& input,
                                       const validation::Forward& forward,
                                       const validation::ProgressFunction& progress);

}  // namespace layard::runtime
