/// What is asked of the devices: shares and sizes of the classes, from the decision log or, without
/// one, from the measured cases.
///
/// Thread-safety: plain values; the functions are pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/decision_log_reader.h"
#include "gateway/evidence_file.h"
#include "gateway/route_confusion.h"
#include "gateway/route_gain.h"

namespace layard::gateway {

struct ClassTraffic {
  std::string class_name;
  double share = 0;  ///< pi_c; those of all classes sum up to 1
  /// Median of the logged requests; nothing: as the cases that were measured.
  std::optional<RequestSize> size;
};

struct RouteTraffic {
  /// The measured classes, in the order of the cases.
  std::vector<ClassTraffic> classes;
  std::optional<double> decision_ms;  ///< median of the decisions in which the model was asked
  double turns = 1;                   ///< of a conversation, mean
  std::size_t decisions = 0;          ///< that were used; 0: it is not from a log
  std::size_t others = 0;             ///< decisions of classes that nobody measured

  const ClassTraffic* find(std::string_view class_name) const;
};

/// Shares of the evidence's cases.
RouteTraffic case_traffic(const MeasuredEvidence& evidence);

/// Shares of the log. A log says what requests were taken for; what they were follows by the
/// confusion, as the shares under which the log is most likely (expectation maximisation, 500
/// steps). Without a decision of a measured class: case_traffic.
RouteTraffic logged_traffic(const MeasuredEvidence& evidence, const LoggedDecisions& log,
                            const Confusion& confusion);

}  // namespace layard::gateway
