#include "gateway/route_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "gateway/policy_check.h"

namespace layard::gateway {
namespace {

// Byte for byte what the seed's router asks: the wording is part of what was measured.
constexpr const char* kInstructions = "What kind of answer does this request need?";
constexpr struct {
  const char* name;
  const char* description;
} kOptions[] = {
    {"code", "source code, a script, a fix to a program, or an explanation of code"},
    {"prose", "several paragraphs of explanation, writing, advice or a story"},
    {"short", "one word, one number or one sentence"},
    {"long_doc", "reading a long pasted document, log, transcript, table or file"},
};
constexpr const char* kDefaultDevice = "vulkan";
constexpr double kDefaultMinConfidence = 0.16;

std::vector<ClassOption> built_in_options() {
  std::vector<ClassOption> options;
  for (const auto& option : kOptions) options.push_back({option.name, option.description});
  return options;
}

RoutePolicy seed_policy() {
  RoutePolicy policy;
  policy.min_confidence = kDefaultMinConfidence;
  policy.default_device = kDefaultDevice;
  policy.size_gate.emplace();
  policy.instructions = kInstructions;
  policy.options = built_in_options();
  policy.take_gate_class();
  for (const auto& option : kOptions)
    policy.rows.push_back({option.name, kDefaultDevice, {}, {}, {}});
  return policy;
}

}  // namespace

const RoutePolicy& RoutePolicy::built_in() {
  static const RoutePolicy kPolicy = seed_policy();
  return kPolicy;
}

Result<RoutePolicy> RoutePolicy::parse(std::string_view text, const std::string& source) {
  // Nothing that depends on the time of day is an error here: what was good once stays usable.
  PolicyCheckOptions options;
  options.now_s = std::numeric_limits<std::int64_t>::max();
  options.days_max = std::numeric_limits<std::int64_t>::max();
  PolicyCheck check = check_policy(text, source, options);
  const std::size_t errors = check.findings.errors();
  if (errors == 0) return std::move(check.policy);
  const auto& all = check.findings.all();
  const auto first = std::ranges::find(all, PolicySeverity::kError, &PolicyFinding::severity);
  std::string what = first->sentence();
  if (first->place.line > 0) {
    what += " at line " + std::to_string(first->place.line) + ", column " +
            std::to_string(first->place.column);
  }
  if (errors > 1) what += ", and " + std::to_string(errors - 1) + " more (layard route check)";
  return Error{ErrorCode::kInvalidRequest, "route policy: " + what + " in " + source};
}

void RoutePolicy::take_gate_class() {
  SizeGate& gate = *size_gate;
  const auto found = std::ranges::find(options, gate.class_name, &ClassOption::name);
  if (found == options.end()) return;
  gate.description = found->description;
  options.erase(found);
}

void RoutePolicy::remove_gate() {
  if (!size_gate.has_value()) return;
  options.push_back({size_gate->class_name, size_gate->description});
  size_gate.reset();
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

const PolicyRow* RoutePolicy::row(std::string_view class_name) const {
  const auto found = std::ranges::find(rows, class_name, &PolicyRow::class_name);
  return found == rows.end() ? nullptr : &*found;
}

const PolicyEvidence* RoutePolicy::find_evidence(std::string_view name) const {
  const auto found = std::ranges::find(evidence, name, &PolicyEvidence::name);
  return found == evidence.end() ? nullptr : &*found;
}

std::vector<std::string> RoutePolicy::classes() const {
  std::vector<std::string> names;
  for (const ClassOption& option : options) names.push_back(option.name);
  if (size_gate.has_value()) names.push_back(size_gate->class_name);
  return names;
}

std::vector<std::string> RoutePolicy::devices() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const PolicyRow& one : rows) {
    add(one.device);
    for (const std::string& alternate : one.alternates) add(alternate);
  }
  add(default_device);
  return names;
}

DeviceChoice choose_device(const RoutePolicy& policy, std::string_view class_name,
                           double confidence, std::span<const std::string> candidates) {
  const auto is_candidate = [&](const std::string& device) {
    return std::ranges::find(candidates, device) != candidates.end();
  };
  const PolicyRow* row = policy.row(class_name);
  DeviceChoice out;
  if (!(confidence >= policy.min_confidence)) {
    out.row = RowUse::kBelowThreshold;
  } else if (row == nullptr) {
    out.row = RowUse::kNoRow;
  } else if (is_candidate(row->device)) {
    return {row->device, RowUse::kUsed, DeviceRule::kRow};
  } else {
    out.row = RowUse::kDeviceAbsent;
    // The 1bit router knows no alternates.
    const auto other = policy.version == 0 ? row->alternates.end()
                                           : std::ranges::find_if(row->alternates, is_candidate);
    if (other != row->alternates.end()) return {*other, out.row, DeviceRule::kAlternate};
  }
  if (is_candidate(policy.default_device)) {
    return {policy.default_device, out.row, DeviceRule::kDefault};
  }
  if (candidates.empty()) return out;
  return {candidates.front(), out.row, DeviceRule::kFirstCandidate};
}

std::string pick_device(const RoutePolicy& policy, std::string_view class_name, double confidence,
                        std::span<const std::string> candidates) {
  return choose_device(policy, class_name, confidence, candidates).device;
}

}  // namespace layard::gateway
