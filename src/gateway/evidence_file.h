/// The file of measurements: written by `layard route measure`, read by `layard route derive`.
///
/// JSON with `version` 1 (docs/routing.md, "Measuring"). Texts of prompts never stand in it: a
/// prompt is its identity and its length. Thread-safety: values are plain; the functions are pure.
/// Source: none; the form is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// The version of the file's form that is written and read.
inline constexpr int kEvidenceVersion = 1;
/// Bytes, requests, and devices, classes, cases and rounds that a file may have.
inline constexpr std::size_t kEvidenceBytesMax = std::size_t{64} << 20;
inline constexpr std::size_t kMeasuredRequestsMax = 100'000;
inline constexpr std::size_t kMeasuredDevicesMax = 64;
inline constexpr std::size_t kMeasuredClassesMax = 64;
inline constexpr std::size_t kMeasuredCasesMax = 100'000;
inline constexpr int kMeasuredRoundsMax = 1000;

enum class MeasuredKind : std::uint8_t {
  kCase,     ///< a labelled request
  kLength,   ///< a prompt of a certain length and one output token, for the speed of reading
  kControl,  ///< the same prompt at the begin and the end of a round, for the drift
};

/// Where the numbers of tokens come from.
enum class TokenSource : std::uint8_t {
  kUsage,    ///< the reply's `usage`
  kTimings,  ///< the same, with cached tokens by llama.cpp's `timings`
  kEvents,   ///< the stream's events with content were counted; the prompt's tokens are not known
};

/// A backend together with its settings.
struct MeasuredDevice {
  std::string name;
  std::string url;            ///< may be empty
  std::string model;          ///< may be empty
  double resident_bytes = 0;  ///< memory of a copy of the model that only this device needs
};

struct MeasuredCase {
  std::string id;
  std::string class_name;
  std::int64_t chars = 0;  ///< Unicode code points of the text
};

struct MeasuredRequest {
  MeasuredKind kind = MeasuredKind::kCase;
  std::string class_name;  ///< only of kCase
  std::string device;
  std::string prompt;  ///< identity: equal prompts of one round differ in the device only
  int round = 1;
  int position = 0;  ///< in the round, from 0
  int status = 200;
  double ttft_ms = 0;                              ///< from sending to the first token
  double total_ms = 0;                             ///< from sending to the last event
  std::optional<std::int64_t> prompt_tokens = {};  ///< cached ones included
  std::int64_t cached_tokens = 0;
  std::int64_t output_tokens = 0;
  TokenSource tokens_from = TokenSource::kUsage;
};

/// A round whose requests do not count.
struct DiscardedRound {
  int round = 1;
  std::string device;  ///< whose control drifted most
  double drift = 0;    ///< share: 0.04 is 4 %
};

struct MeasuredEvidence {
  std::string profile;       ///< of the machine
  std::string date;          ///< YYYY-MM-DD
  std::string model_sha256;  ///< as the operator says; may be empty
  std::vector<MeasuredDevice> devices;
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredRequest> requests;
  std::vector<DiscardedRound> discarded;

  const MeasuredDevice* find_device(std::string_view name) const;
  bool is_discarded(int round) const;
};

/// Reads a file. Members it does not know are passed over; of an unknown version it is refused.
/// Errors: kInvalidRequest naming `source`, the member and what it must be: no JSON, a member of
/// another kind or out of range, a request of an unknown device, more than the bounds.
Result<MeasuredEvidence> parse_evidence(std::string_view text, const std::string& source);

/// The file's text: one request a line. The same evidence gives the same bytes.
std::string write_evidence(const MeasuredEvidence& evidence);

}  // namespace layard::gateway
