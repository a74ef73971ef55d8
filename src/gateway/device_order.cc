#include "gateway/device_order.h"

#include <algorithm>

#include "base/checks.h"

namespace layard::gateway {
namespace {

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::size_t> find_device(const RoutePolicy& policy, std::string_view name) {
  const auto found = std::ranges::find(policy.servers, name, &PolicyDevice::name);
  if (found == policy.servers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - policy.servers.begin());
}

ModelMatch match_model(const RoutePolicy& policy, const std::string& model) {
  if (find_device(policy, model).has_value()) return ModelMatch::kDevice;
  if (model.empty() || model == "auto" || (model != "*" && holds(policy.model_names, model))) {
    return ModelMatch::kByClass;
  }
  if (std::ranges::find(policy.servers, model, &PolicyDevice::model) != policy.servers.end()) {
    return ModelMatch::kModel;
  }
  if (holds(policy.model_names, "*")) return ModelMatch::kWildcard;
  const bool any_open = std::ranges::any_of(
      policy.servers, [](const PolicyDevice& device) { return device.model.empty(); });
  return any_open ? ModelMatch::kPassedOn : ModelMatch::kUnknown;
}

bool serves_model(const PolicyDevice& device, ModelMatch match, const std::string& model) {
  switch (match) {
    case ModelMatch::kDevice:
      return device.name == model;
    case ModelMatch::kModel:
      return device.model == model;
    case ModelMatch::kPassedOn:
      return device.model.empty();
    case ModelMatch::kUnknown:
      return false;
    case ModelMatch::kByClass:
    case ModelMatch::kWildcard:
      break;
  }
  return true;
}

bool lacks(const PolicyDevice& device, std::string_view capability) {
  return !device.capabilities.empty() && !holds(device.capabilities, capability);
}

DeviceGap gap_of(const PolicyDevice& device, ModelMatch match, const RequestNeeds& needs) {
  if (!serves_model(device, match, needs.model)) return DeviceGap::kOtherModel;
  if (needs.tools && lacks(device, "tools")) return DeviceGap::kLacksTools;
  if (needs.images && lacks(device, "images")) return DeviceGap::kLacksImages;
  const bool too_long = device.context_tokens > 0 && needs.prompt_tokens >= device.context_tokens;
  return too_long ? DeviceGap::kContextTooShort : DeviceGap::kNone;
}

}  // namespace

std::string_view device_gap_text(DeviceGap gap) {
  constexpr std::string_view kTexts[] = {"", "serves another model", "lacks tools", "lacks images",
                                         "its context is too short"};
  return kTexts[static_cast<std::size_t>(gap)];
}

DeviceCandidates find_candidates(const RoutePolicy& policy, const RequestNeeds& needs) {
  DeviceCandidates out;
  out.match = match_model(policy, needs.model);
  if (out.match == ModelMatch::kDevice) out.override_device = find_device(policy, needs.model);
  for (std::size_t i = 0; i < policy.servers.size(); ++i) {
    out.gaps.push_back(gap_of(policy.servers[i], out.match, needs));
    if (out.gaps.back() == DeviceGap::kNone) out.devices.push_back(i);
  }
  return out;
}

std::vector<std::string> known_models(const RoutePolicy& policy) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && name != "*" && !holds(names, name)) names.push_back(name);
  };
  for (const std::string& name : policy.model_names) add(name);
  for (const PolicyDevice& device : policy.servers) add(device.name);
  for (const PolicyDevice& device : policy.servers) add(device.model);
  return names;
}

DeviceOrder order_devices(const RoutePolicy& policy, std::span<const std::size_t> candidates,
                          std::optional<std::size_t> override_device, std::string_view class_name,
                          double confidence) {
  DeviceOrder out;
  const auto add = [&](std::size_t device) {
    const bool is_new = std::ranges::find(out.devices, device) == out.devices.end();
    const bool is_candidate = std::ranges::find(candidates, device) != candidates.end();
    if (is_new && is_candidate) out.devices.push_back(device);
  };
  if (override_device.has_value()) {
    out.overridden = true;
    add(*override_device);
    return out;
  }
  std::vector<std::string> names;
  for (const std::size_t device : candidates) names.push_back(policy.servers[device].name);
  const DeviceChoice first = choose_device(policy, class_name, confidence, names);
  out.rule = first.rule;
  out.row = first.row;
  const auto add_named = [&](const std::string& name) {
    if (const auto device = find_device(policy, name)) add(*device);
  };
  const PolicyRow* row = policy.row(class_name);
  if (row != nullptr && first.row != RowUse::kBelowThreshold) {
    add_named(row->device);
    if (policy.version > 0) std::ranges::for_each(row->alternates, add_named);
  }
  add_named(policy.default_device);
  std::ranges::for_each(candidates, add);
  LAYARD_DCHECK(out.devices.empty() || policy.servers[out.devices.front()].name == first.device);
  return out;
}

}  // namespace layard::gateway
