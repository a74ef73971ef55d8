/// What one run of the parity gate found, kept on this machine: the evidence that `dtype auto` asks
/// for before it uses a reduced number format.
///
/// A record is one small JSON file, `parity/<16 hex of the weights' hash>/<isa>-<dtype>.json` below
/// Layard's cache. It counts only for exactly what it was measured with (RecordKey). File and
/// folders must be of this user and closed to others (0600 in 0700); anything else is ignored.
/// Thread-safety: any number of callers and processes; a record is replaced whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "layard/error.h"

namespace layard::validation {

/// Rows a gate must have compared before it can vouch for a number format.
inline constexpr std::size_t kRecordRowsMin = 200;
/// Bytes a record may have; real ones have under 2,000.
inline constexpr std::uint64_t kRecordBytesMax = 64 * 1024;

/// Everything a measurement depends on. A record of any other value says nothing here.
struct RecordKey {
  std::string weights_sha256;  ///< 64 hex digits
  std::string config_sha256;   ///< encoder config and temperatures
  std::string dtype;
  std::string isa;
  /// Hash of the kernels' code (kernels::isa_code_hash).
  std::string kernels;
  /// Product version and hash of the forward pass' code.
  std::string build;
  std::string processor;

  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

struct ParityRecord {
  RecordKey key;
  std::string weights;  ///< `trained`, or `unknown` where the checkpoint does not say
  std::string date;     ///< `2026-11-30`, UTC
  std::string goldens_sha256;
  std::size_t rows = 0;
  std::size_t hard_mismatches = 0;
  std::size_t near_ties = 0;  ///< decisions that changed where the reference is nearly tied
  std::size_t token_mismatch_cases = 0;
  double prob_max_abs = 0;
  double action_prob_max_abs = 0;  ///< of the act head
  bool all_finite = true;          ///< else an error may be infinite
  bool repeat_identical = true;
  bool passed = false;
  double duration_s = 0;
  /// Median over all cases of the time of a case (the faster of its two runs) by its rows.
  double row_ms_median = 0;

  friend bool operator==(const ParityRecord&, const ParityRecord&) = default;
};

/// Where the record of `key` lies.
std::filesystem::path record_path(const std::filesystem::path& cache, const RecordKey& key);

/// The file's text. An error that is not finite is written as null.
std::string print_record(const ParityRecord& record);

/// Errors: kArtifactRevision for the format of another version; kArtifactIntegrity naming the
/// member that is missing or not of its form.
Result<ParityRecord> parse_record(std::string_view text);

/// Writes the record in place of an earlier one: whole, 0600, in folders of this user with 0700.
/// Errors: kIo, also when a folder on the way is open to others.
Status write_record(const std::filesystem::path& cache, const ParityRecord& record);

/// What was found in the place of one record.
struct RecordLookup {
  enum class State : std::uint8_t {
    kAbsent,
    kCurrent,   ///< `record` is set; whether its gate passed is inside
    kOutdated,  ///< made by another build, on another processor, with another configuration
    kRefused,   ///< not this user's alone, or not a record
  };
  State state = State::kAbsent;
  std::optional<ParityRecord> record;
  /// One sentence for kOutdated and kRefused: the file, what is wrong, what to do.
  std::string problem;
};

/// Looks up the record of `key`. Never an error: what cannot be used is said in the result.
RecordLookup find_record(const std::filesystem::path& cache, const RecordKey& key);

}  // namespace layard::validation
