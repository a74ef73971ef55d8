#include "runtime/dtype_choice.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "layard/version.h"
#include "runtime/forward_hash.h"
#include "validation/parity.h"

namespace layard::runtime {
namespace {

using validation::RecordLookup;

// Milliseconds with three digits after the point.
std::string shown_ms(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

// What has become of a record that cannot be used.
std::string fate(const RecordLookup& found) {
  if (found.state == RecordLookup::State::kOutdated) return "outdated";
  return found.state == RecordLookup::State::kRefused ? "unusable" : "failed";
}

// Which of the gate's conditions a failed record tells of.
std::string what_failed(const validation::ParityRecord& record) {
  std::string out;
  const auto add = [&](const std::string& reason) { out += (out.empty() ? "" : ", ") + reason; };
  const auto add_error = [&](double error, const char* of_what) {
    // An infinite one comes from a number that is not finite, which is the reason itself.
    if (!std::isfinite(error) || error <= validation::kToleranceReduced) return;
    char text[128];
    std::snprintf(text, sizeof(text), "a probability%s is off by %.2g where %g is allowed", of_what,
                  error, validation::kToleranceReduced);
    add(text);
  };
  const auto add_count = [&](std::size_t count, const char* one, const char* several) {
    if (count > 0) add(std::to_string(count) + (count == 1 ? one : several));
  };
  if (!record.all_finite) add("a number is not finite");
  add_error(record.prob_max_abs, "");
  add_error(record.action_prob_max_abs, " of the act head");
  add_count(record.hard_mismatches, " clear decision differs", " clear decisions differ");
  add_count(record.token_mismatch_cases, " case has other token ids",
            " cases have other token ids");
  if (!record.repeat_identical) add("a second run gave other bits");
  return out.empty() ? "the record does not say why" : out;
}

}  // namespace

std::string build_identity() { return std::string(version()) + "+" + std::string(kForwardHash); }

std::string choose_dtype(const std::filesystem::path& cache, validation::RecordKey key,
                         const std::string& parity_command, base::LogSink& log) {
  std::optional<validation::ParityRecord> best;
  std::string unusable;
  for (const std::string_view dtype : kDtypes) {
    if (cache.empty()) break;
    key.dtype = dtype;
    RecordLookup found = validation::find_record(cache, key);
    if (!found.problem.empty()) {
      const bool refused = found.state == RecordLookup::State::kRefused;
      log.write(refused ? base::LogLevel::kWarning : base::LogLevel::kInfo, found.problem);
    }
    const bool usable = found.record.has_value() && found.record->passed;
    if (!usable && found.state != RecordLookup::State::kAbsent) {
      unusable += (unusable.empty() ? "" : ", ") + key.dtype + " " + fate(found);
    }
    if (usable && (!best.has_value() || found.record->row_ms_median < best->row_ms_median)) {
      best = std::move(found.record);
    }
  }
  if (!best.has_value()) {
    const std::string others = unusable.empty() ? "" : " (recorded: " + unusable + ")";
    log.write(base::LogLevel::kWarning,
              "dtype auto: no number format has a passing parity record for these weights on " +
                  key.isa + " here" + others + ", so float32 is used; " +
                  (cache.empty() ? "records need a cache folder: set LAYARD_CACHE or HOME"
                                 : "make records with: " + parity_command +
                                       " --dtype D, for D in float32, float16, bfloat16, int8"));
    return std::string(kDtypes[0]);
  }
  log.write(base::LogLevel::kInfo, "dtype auto: " + best->key.dtype + ", the fastest recorded (" +
                                       shown_ms(best->row_ms_median) + " ms a row, " + best->date +
                                       ")");
  return best->key.dtype;
}

std::string failed_record(const std::filesystem::path& cache, const validation::RecordKey& key,
                          const std::string& parity_command, base::LogSink& log) {
  if (cache.empty() || key.dtype == kDtypes[0]) return "";
  const RecordLookup found = validation::find_record(cache, key);
  if (!found.problem.empty()) log.write(base::LogLevel::kInfo, found.problem);
  if (!found.record.has_value() || found.record->passed) return "";
  return "dtype " + key.dtype + ": its parity record for these weights on " + key.isa +
         " says that it failed: " + what_failed(*found.record) + " (" +
         std::to_string(found.record->rows) + " rows, " + found.record->date + ", '" +
         validation::record_path(cache, key).string() +
         "'); answers may differ from float32's; to measure it again: " + parity_command +
         " --dtype " + key.dtype;
}

}  // namespace layard::runtime
