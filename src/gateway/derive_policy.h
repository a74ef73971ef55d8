/// Which class of requests goes to which device, by measurements: `layard route derive`.
///
/// A row moves off the default device where the lower end of the 95 % interval of its gain,
/// requests counted that the classifier takes for the class by mistake, is worth a move
/// (row_moves), where the memory it needs is paid for, and, unless the size alone tells the class,
/// where all such rows together bring more than the questions cost.
///
/// Thread-safety: pure. Deterministic: the same input gives the same result, bit for bit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/decision_log_reader.h"
#include "gateway/evidence_file.h"
#include "gateway/route_confusion.h"
#include "gateway/route_policy.h"
#include "gateway/route_traffic.h"
#include "gateway/speed_fit.h"
#include "gateway/time_table.h"

namespace layard::gateway {

struct DeriveOptions {
  std::string evidence_file = {};  ///< its name, for the policy
  /// Empty: the base policy's, if it was measured, else the first.
  std::string default_device = {};
  /// Time of a decision; nothing: the log's median. Without either, rows that need the question do
  /// not move.
  std::optional<double> decision_ms = {};
  std::optional<double> turns = {};  ///< of a conversation, >= 1; nothing: the log's mean, else 1
  double memory_budget_bytes = 0;
  /// Gain per request that a GB (10^9 bytes) must bring; nothing: no row moves to a device that
  /// needs a copy of the model.
  std::optional<double> ms_per_gb = {};
};

/// Why a row goes where it goes.
enum class RowVerdict : std::uint8_t {
  kMoved,
  kNotMeasured,      ///< no prompt of the class was measured on every device
  kNoTraffic,        ///< the log has no request of the class
  kOnlyDevice,       ///< nothing to compare with
  kFastest,          ///< no other device is faster
  kTooLittle,        ///< faster elsewhere, but not by enough, or not surely
  kMemoryUnpriced,   ///< nobody said what memory may cost
  kMemoryTooMuch,    ///< over the budget
  kMemoryTooDear,    ///< under the price
  kDecisionUnknown,  ///< nobody said what a decision takes
  kAskingCosts,      ///< all moved rows together bring less than the questions cost
};

/// A row of the policy and what speaks for it.
struct DerivedRow {
  std::string class_name;
  RowVerdict verdict = RowVerdict::kNotMeasured;
  bool by_size = false;       ///< the size gate tells the class: nothing is asked
  std::string device;         ///< where it goes
  std::string other;          ///< the best of the other devices; where it moved, `device`
  GainInterval gain;          ///< of a request of this row on `other`, milliseconds
  GainInterval traffic_gain;  ///< the same per request of all traffic
  double default_ms = 0;      ///< a request of the class on the default device
  std::size_t prompts = 0;
  RequestSize size;           ///< median of what was measured, or the traffic's
  DeviceSpeed default_speed;  ///< fitted; rates of 0: not known
  DeviceSpeed other_speed;
  double other_bytes = 0;  ///< of the copy that `other` needs
  /// Output tokens after the first from which the decision is paid, and prompt tokens.
  std::optional<double> break_even_output;
  std::optional<double> break_even_prompt;
  std::string why;  ///< in words (derive_words.h)
};

struct Derivation {
  std::string default_device;
  std::vector<DerivedRow> rows;  ///< of every class of the policy
  SpeedModel model;
  RouteTraffic traffic;
  std::optional<double> decision_ms;
  double turns = 1;
  double asking_ms = 0;     ///< what the questions would cost per request, while any row needs them
  GainInterval asked_gain;  ///< of all rows that need the question and would move, less asking_ms
  bool misroutes_known = false;
};

/// `base` gives the classes, the gate and perhaps the default device. Errors: kInvalidRequest: a
/// default device that was not measured, no device or case in the evidence, turns under 1.
Result<Derivation> derive_policy(const MeasuredEvidence& evidence, const RoutePolicy& base,
                                 const Confusion& confusion,
                                 const std::optional<LoggedDecisions>& log,
                                 const DeriveOptions& options);

}  // namespace layard::gateway
