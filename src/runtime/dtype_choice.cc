#include "runtime/dtype_choice.h"

#include <cstdio>
#include <optional>

#include "layard/version.h"
#include "runtime/forward_hash.h"

namespace layard::runtime {
namespace {

using validation::RecordLookup;

// Milliseconds with three digits after the point.
std::string shown_ms(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

}  // namespace

std::string build_identity() { return std::string(version()) + "+" + std::string(kForwardHash); }

std::string choose_dtype(const std::filesystem::path& cache, validation::RecordKey key,
                         const std::string& parity_command, base::LogSink& log) {
  std::optional<validation::ParityRecord> best;
  for (const std::string_view dtype : kDtypes) {
    if (cache.empty()) break;
    key.dtype = dtype;
    RecordLookup found = validation::find_record(cache, key);
    if (!found.problem.empty()) {
      const bool refused = found.state == RecordLookup::State::kRefused;
      log.write(refused ? base::LogLevel::kWarning : base::LogLevel::kInfo, found.problem);
    }
    if (!found.record.has_value() || !found.record->passed) continue;
    if (!best.has_value() || found.record->row_ms_median < best->row_ms_median) {
      best = std::move(found.record);
    }
  }
  if (!best.has_value()) {
    log.write(base::LogLevel::kInfo,
              "dtype auto: no number format has a passing parity record for these weights on " +
                  key.isa + " here, so float32 is used; make records with: " + parity_command +
                  " --dtype D, for D in float32, float16, bfloat16, int8");
    return std::string(kDtypes[0]);
  }
  log.write(base::LogLevel::kInfo, "dtype auto: " + best->key.dtype + ", the fastest recorded (" +
                                       shown_ms(best->row_ms_median) + " ms a row, " + best->date +
                                       ")");
  return best->key.dtype;
}

}  // namespace layard::runtime
