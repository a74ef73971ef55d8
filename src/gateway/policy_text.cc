#include "gateway/policy_text.h"

#include <utility>

#include "base/json_fault.h"
#include "base/sha256.h"
#include "gateway/policy_places.h"
#include "gateway/policy_yaml.h"

namespace layard::gateway {
namespace {

std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

bool ends_with_word(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  name.remove_prefix(name.size() - ending.size());
  for (std::size_t i = 0; i < ending.size(); ++i) {
    const char c =
        name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    if (c != ending[i]) return false;
  }
  return true;
}

PolicyFinding syntax_error(std::string_view text, const Error& error) {
  PolicyFinding finding;
  finding.kind = PolicyFaultKind::kSyntax;
  const auto fault =
      text.size() > kPolicyBytesMax ? std::nullopt : base::find_json_fault(text, kPolicyDepthMax);
  if (!fault.has_value()) {
    finding.what = error.message;
    return finding;
  }
  finding.what = "not JSON: " + fault->what;
  finding.pointer = fault->pointer;
  finding.place = {static_cast<std::uint32_t>(fault->line),
                   static_cast<std::uint32_t>(fault->column)};
  return finding;
}

std::optional<PolicyText> read_json(std::string_view text, PolicyFindings& findings) {
  base::JsonLimits limits;
  limits.bytes_max = kPolicyBytesMax;
  limits.depth_max = kPolicyDepthMax;
  limits.nodes_max = kPolicyNodesMax;
  limits.members_max = kPolicyMembersMax;
  auto root = base::parse_json(text, limits);
  if (!root.ok()) {
    findings.add(syntax_error(text, root.error()));
    return std::nullopt;
  }
  JsonPlaces places = find_json_places(text);
  PolicyText out{*std::move(root), std::move(places.root), {}};
  for (const JsonPlaces::Repeat& repeat : places.repeats) {
    const PolicyNode object{nullptr, nullptr, repeat.pointer, {}};
    out.repeats.push_back({PolicySeverity::kError, PolicyFaultKind::kMeaning,
                           object.member(repeat.name).pointer, repeat.place,
                           "the name " + shown_text(repeat.name) + " stands here again", "",
                           "only the last one counts: keep one"});
  }
  return out;
}

}  // namespace

std::string policy_hash(std::string_view text) { return base::sha256_hex(text); }

bool is_yaml_policy(std::string_view name, std::string_view text) {
  if (ends_with_word(name, ".yaml") || ends_with_word(name, ".yml")) return true;
  if (ends_with_word(name, ".json")) return false;
  text = without_mark(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || text[first] != '{';
}

std::optional<PolicyText> read_policy_text(std::string_view text, std::string_view name,
                                           PolicyFindings& findings) {
  const bool yaml = is_yaml_policy(name, text);
  text = without_mark(text);
  return yaml ? read_policy_yaml(text, findings) : read_json(text, findings);
}

}  // namespace layard::gateway
