/// `layard parity`: the gate over one loaded model, and the record it leaves for `dtype auto`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "layard/model.h"
#include "runtime/loaded_model.h"
#include "validation/parity.h"

namespace layard::runtime {

/// The gate measures one number format. Errors: kInvalidRequest for `auto`.
Status check_parity_dtype(const std::string& dtype);

struct ParityInput {
  /// Reference outputs; none: the model's own goldens.jsonl.
  std::optional<std::string_view> goldens;
  /// Layard's cache, where the record goes; empty: no record.
  std::filesystem::path cache;
  const base::Clock& clock;
};

/// Runs the gate over every case, twice each, without tie re-checks. Afterwards a record is written
/// when the gate failed, or when it passed on at least kRecordRowsMin rows, unless the weights are
/// known to be random. The JSON's `record` holds `written`, `path` and, when not written, `note`
/// with the reason; a record that cannot be written does not change the gate's result.
/// Errors: kInvalidRequest (malformed goldens, none given and none shipped) and the forward's.
Result<Model::ParityReport> run_parity(const LoadedModel& model, const ParityInput& input,
                                       const validation::Forward& forward,
                                       const validation::ProgressFunction& progress);

}  // namespace layard::runtime
