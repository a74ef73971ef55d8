/// Every step of one routing decision, for a person: `layard route explain`.
///
/// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/request_class.h"
#include "gateway/route_policy.h"

namespace layard::gateway {

/// One device that could be picked, or that the policy names.
struct ExplainedDevice {
  std::string name;
  bool candidate = false;
  bool picked = false;
  std::string why;  ///< why it is picked, or why it is not
};

struct RouteExplanation {
  std::string policy_source;  ///< the file, or `built-in`
  std::string policy_sha256;  ///< of the file; empty: built-in
  std::string model;          ///< who is asked
  RoutePolicy policy;
  std::size_t size = 0;  ///< of the text in the gate's unit; code points without a gate
  RequestClass found;
  DeviceChoice choice;
  std::vector<ExplainedDevice> devices;
  /// Whatever the model says, the device is the same: asking changes nothing.
  bool answer_is_idle = false;
  std::int64_t now_s = 0;  ///< for the age of evidence
};

/// Where the explanation comes from.
struct ExplainSource {
  std::string policy_source;
  std::string policy_sha256;
  std::string model;
  std::int64_t now_s = 0;
};

/// The steps that led from `text` and its class to a device among `candidates`.
RouteExplanation explain_route(const RoutePolicy& policy, std::string_view text,
                               const RequestClass& found, std::span<const std::string> candidates,
                               const ExplainSource& source);

/// One step a block, its name in the first column; the last line is `route  CLASS CONFIDENCE
/// DEVICE`. Texts of the policy stand in it as they are, line ends as blanks.
std::string print_explanation(const RouteExplanation& explanation);

/// The same as JSON, indented by one.
std::string explanation_json(const RouteExplanation& explanation);

}  // namespace layard::gateway
