#include "gateway/policy_check.h"

#include <algorithm>
#include <utility>

#include "gateway/policy_reader.h"
#include "layard/words.h"

namespace layard::gateway {
namespace {

constexpr PolicyFaultKind kMeaning = PolicyFaultKind::kMeaning;

std::string quoted(std::string_view name) { return shown_text(name); }

class Checker {
 public:
  Checker(const PolicyText& text, const PolicyCheckOptions& options, PolicyCheck& check)
      : root_(text.node()),
        options_(options),
        policy_(check.policy),
        findings_(check.findings),
        versioned_(check.policy.version > 0),
        classes_(check.policy.classes()) {
    for (const PolicyDevice& server : policy_.servers) servers_.push_back(server.name);
  }

  void run() {
    const PolicyNode rows = root_.member("classes");
    if (!rows.present() || !rows.value->is_object()) return;
    for (const PolicyRow& row : policy_.rows) {
      const PolicyNode node = rows.member(row.class_name);
      check_class(row, node);
      if (!row.device.empty()) check_evidence(row, node);
      if (versioned_) check_devices(row, node);
    }
    if (!versioned_) return;
    check_device(policy_.default_device, root_.member("default"));
    check_unused();
  }

 private:
  void check_class(const PolicyRow& row, const PolicyNode& node) {
    if (std::ranges::find(classes_, row.class_name) != classes_.end()) return;
    findings_.error_at_name(kMeaning, node,
                            "unknown class " + base::quote_json(row.class_name.substr(0, 256)) +
                                " (the classes are " + cut_list(classes_) + ")",
                            closest_fix(row.class_name, classes_));
  }

  // For a message: a policy may have hundreds.
  static std::string cut_list(const std::vector<std::string>& names) {
    constexpr std::size_t kNamesMax = 12;
    if (names.size() <= kNamesMax) return listed(names);
    return listed({names.begin(), names.begin() + kNamesMax}) + ", ...";
  }

  static std::string closest_fix(const std::string& name, const std::vector<std::string>& names) {
    const auto meant = closest_name(name, names);
    return meant ? "did you mean " + quoted(*meant) + "?"
                 : "no request is of it: remove the row, or add it to question.options";
  }

  void check_device(const std::string& name, const PolicyNode& node) {
    if (name.empty() || servers_.empty() || !node.present()) return;
    if (std::ranges::find(servers_, name) != servers_.end()) return;
    const auto meant = closest_name(name, servers_);
    findings_.error(kMeaning, node, "\"devices\" has no such device",
                    meant ? "did you mean " + quoted(*meant) + "?"
                          : "add it there, or name one of " + cut_list(servers_));
  }

  void check_devices(const PolicyRow& row, const PolicyNode& node) {
    check_device(row.device, node.member("device"));
    const PolicyNode list = node.member("alternates");
    if (!list.present() || list.value->size() != row.alternates.size()) return;
    for (std::size_t i = 0; i < row.alternates.size(); ++i) {
      const std::string& name = row.alternates[i];
      const PolicyNode item = list.child(i);
      check_device(name, item);
      const auto before = row.alternates.begin() + static_cast<std::ptrdiff_t>(i);
      if (name == row.device || std::find(row.alternates.begin(), before, name) != before) {
        findings_.warning(item, "the alternate " + quoted(name) + " is tried before already",
                          "remove it");
      }
    }
  }

  void check_evidence(const PolicyRow& row, const PolicyNode& node) {
    const bool moved = row.device != policy_.default_device;
    if (moved && row.evidence.empty()) {
      // What is no name is told of already.
      if (!node.member("evidence").present() || !versioned_) report_without_evidence(row, node);
      return;
    }
    if (row.evidence.empty()) return;
    const PolicyEvidence* evidence = policy_.find_evidence(row.evidence);
    const PolicyNode where = root_.member("evidence").member(row.evidence);
    if (evidence == nullptr) {
      // An entry that is there and could not be read is told of already.
      if (!where.present()) {
        findings_.error(kMeaning, node.member("evidence"), "there is no such evidence",
                        "add it to \"evidence\" at the top level");
      }
      return;
    }
    if (moved) check_bearing(row, *evidence, where);
  }

  void report_without_evidence(const PolicyRow& row, const PolicyNode& node) {
    const std::string what = "class " + quoted(row.class_name) + " goes to " + quoted(row.device) +
                             " and not to the default device " + quoted(policy_.default_device) +
                             ", without evidence";
    if (versioned_) {
      findings_.error_at_name(
          kMeaning, node, what,
          "measure it and name the evidence, or leave it on the default device");
    } else {
      findings_.warning_at_name(node, what,
                                "measure it; a file with \"version\": 1 can name the evidence");
    }
  }

  void check_bearing(const PolicyRow& row, const PolicyEvidence& evidence,
                     const PolicyNode& where) {
    EvidenceUse use{row.class_name,        row.device,     policy_.default_device, options_.profile,
                    options_.model_sha256, options_.now_s, options_.days_max};
    // Without a machine and model to hold them against, evidence must agree among itself.
    if (first_ == nullptr) first_ = &evidence;
    if (use.profile.empty()) use.profile = first_->profile;
    if (use.model_sha256.empty()) use.model_sha256 = first_->model_sha256;
    const bool complete =
        std::ranges::all_of(std::initializer_list<const char*>{"n", "gain_ms", "ci95_ms"},
                            [&](const char* key) { return where.member(key).present(); });
    if (!complete) return;  // told of already
    for (const EvidenceFault& fault : evidence_faults(evidence, use)) {
      const PolicyNode member = where.member(fault.member);
      const std::string what = "the evidence of class " + quoted(row.class_name) + " " + fault.what;
      if (fault.is_error) {
        findings_.error(kMeaning, member, what, fault.fix);
      } else {
        findings_.warning(member, what, fault.fix);
      }
    }
  }

  void check_unused() {
    const auto devices = policy_.devices();
    for (const PolicyDevice& server : policy_.servers) {
      if (std::ranges::find(devices, server.name) != devices.end()) continue;
      findings_.warning_at_name(root_.member("devices").member(server.name),
                                "no row and no default names the device " + quoted(server.name),
                                "remove it, or name it");
    }
    for (const PolicyEvidence& evidence : policy_.evidence) {
      if (std::ranges::find(policy_.rows, evidence.name, &PolicyRow::evidence) !=
          policy_.rows.end()) {
        continue;
      }
      findings_.warning_at_name(root_.member("evidence").member(evidence.name),
                                "no row names the evidence " + quoted(evidence.name),
                                "remove it, or name it");
    }
  }

  PolicyNode root_;
  const PolicyCheckOptions& options_;
  const RoutePolicy& policy_;
  PolicyFindings& findings_;
  bool versioned_;
  std::vector<std::string> classes_;
  std::vector<std::string> servers_;
  const PolicyEvidence* first_ = nullptr;
};

}  // namespace

PolicyCheck check_policy(std::string_view text, std::string_view name,
                         const PolicyCheckOptions& options) {
  PolicyCheck check;
  const auto read = read_policy_text(text, name, check.findings);
  if (!read.has_value()) return check;
  check.policy = read_policy(*read, check.findings);
  for (PolicyFinding repeat : read->repeats) {
    if (check.policy.version == 0) repeat.severity = PolicySeverity::kWarning;
    check.findings.add(std::move(repeat));
  }
  Checker(*read, options, check).run();
  return check;
}

}  // namespace layard::gateway
