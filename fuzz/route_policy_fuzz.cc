// Any text as a policy file, JSON or YAML: refused with errors that have words and bounded places,
// or a policy that can be used, printed and asked for a device.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gateway/policy_report.h"

namespace {

using layard::gateway::PolicyCheck;
using layard::gateway::PolicyFaultKind;
using layard::gateway::PolicyFinding;
using layard::gateway::PolicySeverity;
using layard::gateway::RoutePolicy;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_findings(const PolicyCheck& check, std::string_view text) {
  require(check.findings.all().size() <= 2 * layard::gateway::PolicyFindings::kMax);
  for (const PolicyFinding& finding : check.findings.sorted()) {
    require(!finding.what.empty());
    require(finding.place.line <= text.size() + 1 && finding.place.column <= text.size() + 1);
    // Without a place only what has none: a bound, an empty file, a second document.
    require(finding.place.line > 0 || finding.kind == PolicyFaultKind::kSyntax);
    require(finding.pointer.empty() || finding.pointer.front() == '/');
  }
}

void check_policy_is_usable(const PolicyCheck& check) {
  const RoutePolicy& policy = check.policy;
  require(policy.min_confidence >= 0 && policy.min_confidence <= 1);
  require(!policy.default_device.empty() && !policy.options.empty());
  const auto devices = policy.devices();
  for (const std::string& name : policy.classes()) {
    require(!pick_device(policy, name, 1, devices).empty());
    require(pick_device(policy, name, 1, {}).empty());
  }
  require(!policy_table(check, "f", 0).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses how the text is read.
  const char* names[] = {"f.json", "f.yaml", "f"};
  const char* name = names[data[0] % 3];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  layard::gateway::PolicyCheckOptions options;
  options.now_s = 1'800'000'000;
  const PolicyCheck check = check_policy(text, name, options);
  check_findings(check, text);
  const bool good = check.findings.errors() == 0;
  if (good) check_policy_is_usable(check);
  const std::string json = policy_check_json(check, name, true, options.now_s);
  require(layard::base::parse_json(json, {}).ok());
  const auto parsed = RoutePolicy::parse(text, name);
  // What only time makes an error is none to a start.
  require(parsed.ok() || !good);
  if (!parsed.ok()) {
    require(parsed.error().code == layard::ErrorCode::kInvalidRequest);
    require(parsed.error().message.starts_with("route policy: "));
  }
  return 0;
}
