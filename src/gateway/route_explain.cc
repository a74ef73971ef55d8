#include "gateway/route_explain.h"

#include <algorithm>

#include "base/utf8.h"

namespace layard::gateway {
namespace {

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string picked_because(const RouteExplanation& all) {
  switch (all.choice.rule) {
    case DeviceRule::kRow:
      return "the row of " + all.found.name + " names it";
    case DeviceRule::kAlternate:
      return "the first alternate of the row of " + all.found.name + " that is a candidate";
    case DeviceRule::kDefault:
      if (all.choice.row == RowUse::kBelowThreshold) {
        return "the default: the confidence is below the threshold";
      }
      if (all.choice.row == RowUse::kNoRow) return "the default: " + all.found.name + " has no row";
      return "the default: the row's device is no candidate";
    case DeviceRule::kFirstCandidate:
      return "the first candidate: neither a row nor the default names one";
    case DeviceRule::kNone:
      break;
  }
  return "";
}

std::string not_picked_because(const RouteExplanation& all, const std::string& device,
                               bool candidate) {
  const PolicyRow* row = all.policy.row(all.found.name);
  const bool of_row = row != nullptr && row->device == device;
  if (!candidate) {
    return of_row ? "the row of " + all.found.name + " names it, and it is no candidate"
                  : "it is no candidate";
  }
  if (of_row) return "the row names it, and the confidence is below the threshold";
  if (row != nullptr && contains(row->alternates, device)) {
    if (all.policy.version == 0) return "an alternate, and a file without version uses none";
    return all.choice.row == RowUse::kBelowThreshold
               ? "an alternate of a row that the confidence does not reach"
               : "an alternate: used when what stands before it is no candidate";
  }
  if (device == all.policy.default_device) return "the default: used when no row decides";
  return "nothing names it for a request of " + all.found.name;
}

void explain_devices(RouteExplanation& all, std::span<const std::string> candidates) {
  std::vector<std::string> names(candidates.begin(), candidates.end());
  for (const std::string& name : all.policy.devices()) {
    if (!contains(names, name)) names.push_back(name);
  }
  for (const std::string& name : names) {
    ExplainedDevice device{name, contains(candidates, name), name == all.choice.device, {}};
    device.why =
        device.picked ? picked_because(all) : not_picked_because(all, name, device.candidate);
    all.devices.push_back(std::move(device));
  }
}

// Every answer, sure or not, leads to one device.
bool is_idle(const RoutePolicy& policy, std::span<const std::string> candidates) {
  std::vector<std::string> outcomes;
  for (const ClassOption& option : policy.options) {
    outcomes.push_back(pick_device(policy, option.name, 1, candidates));
  }
  // An unsure answer goes where one without a row goes.
  if (policy.min_confidence > 0) outcomes.push_back(pick_device(policy, "", 1, candidates));
  return std::ranges::all_of(outcomes,
                             [&](const std::string& device) { return device == outcomes.front(); });
}

}  // namespace

RouteExplanation explain_route(const RoutePolicy& policy, std::string_view text,
                               const RequestClass& found, std::span<const std::string> candidates,
                               const ExplainSource& source) {
  RouteExplanation all;
  all.policy_source = source.policy_source;
  all.policy_sha256 = source.policy_sha256;
  all.model = source.model;
  all.now_s = source.now_s;
  all.policy = policy;
  all.size = policy.size_gate.has_value() ? gate_size(*policy.size_gate, text)
                                          : base::count_code_points(text);
  all.found = found;
  all.choice = choose_device(policy, found.name, found.confidence, candidates);
  all.answer_is_idle = !found.by_size && is_idle(policy, candidates);
  explain_devices(all, candidates);
  return all;
}

}  // namespace layard::gateway
