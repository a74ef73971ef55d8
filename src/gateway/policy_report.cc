#include "gateway/policy_report.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "gateway/policy_schema_file.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::size_t kWhyCharsMax = 48;
// Wider cells than these are not padded to.
constexpr std::size_t kCellCharsMax = 48;

const char* severity_word(PolicySeverity severity) {
  return severity == PolicySeverity::kError ? "error" : "warning";
}

const char* kind_word(PolicyFaultKind kind) {
  switch (kind) {
    case PolicyFaultKind::kSyntax:
      return "syntax";
    case PolicyFaultKind::kStructure:
      return "structure";
    case PolicyFaultKind::kMeaning:
      break;
  }
  return "meaning";
}

std::string counted(std::size_t number, const char* word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

// At most `chars` code points; more end in dots.
std::string shortened(const std::string& text, std::size_t chars) {
  if (base::count_code_points(text) <= chars) return text;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < chars; ++i) at += base::decode_utf8(text, at).bytes;
  return text.substr(0, at) + "…";
}

std::string padded(std::string text, std::size_t chars) {
  const std::size_t has = base::count_code_points(text);
  if (has < chars) text.append(chars - has, ' ');
  return text;
}

std::string age_text(const RoutePolicy& policy, const PolicyRow& row, std::int64_t now_s) {
  if (row.device == policy.default_device && row.evidence.empty()) return "not needed";
  const PolicyEvidence* evidence = policy.find_evidence(row.evidence);
  if (evidence == nullptr) return "none";
  const auto age = evidence_age_days(evidence->date, now_s);
  if (!age.has_value()) return "none";
  return counted(static_cast<std::size_t>(std::max<std::int64_t>(*age, 0)), "day");
}

using Row = std::vector<std::string>;

std::string table_text(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (std::string& cell : row) {
      std::ranges::replace_if(
          cell, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    }
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(base::count_code_points(row[i]), kCellCharsMax));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 < row.size() ? padded(row[i], widths[i]) + "  " : row[i];
    }
    out += line + "\n";
  }
  return out;
}

std::string version_text(const RoutePolicy& policy) {
  return policy.version == 0 ? "without version (1bit)"
                             : "version " + std::to_string(policy.version);
}

std::string threshold_text(const RoutePolicy& policy) {
  const std::string number =
      write_json(JsonValue::real(policy.min_confidence), base::JsonStyle::kCompact);
  return number +
         (policy.gate_on == GateOn::kConfidence ? " of confidence" : " of answer_confidence");
}

JsonValue text_or_null(const std::string& text) {
  return text.empty() ? JsonValue::null() : JsonValue::string(text);
}

JsonValue place_number(std::uint32_t number) {
  return number == 0 ? JsonValue::null() : JsonValue::integer(number);
}

JsonValue finding_value(const PolicyFinding& finding) {
  JsonValue out = JsonValue::object();
  out.set("severity", JsonValue::string(severity_word(finding.severity)));
  out.set("kind", JsonValue::string(kind_word(finding.kind)));
  out.set("pointer", JsonValue::string(finding.pointer));
  out.set("line", place_number(finding.place.line));
  out.set("column", place_number(finding.place.column));
  out.set("what", JsonValue::string(finding.what));
  out.set("found", text_or_null(finding.found));
  out.set("fix", text_or_null(finding.fix));
  return out;
}

JsonValue evidence_value(const RoutePolicy& policy, const PolicyRow& row, std::int64_t now_s) {
  const PolicyEvidence* evidence = policy.find_evidence(row.evidence);
  if (evidence == nullptr) return JsonValue::null();
  JsonValue out = JsonValue::object();
  out.set("name", JsonValue::string(evidence->name));
  out.set("date", JsonValue::string(evidence->date));
  const auto age = evidence_age_days(evidence->date, now_s);
  out.set("age_days", age.has_value() ? JsonValue::integer(*age) : JsonValue::null());
  out.set("gain_ms", JsonValue::real(evidence->gain_ms));
  return out;
}

JsonValue classes_value(const RoutePolicy& policy, std::int64_t now_s) {
  JsonValue out = JsonValue::array();
  for (const std::string& name : policy.classes()) {
    JsonValue one = JsonValue::object();
    const PolicyRow* row = policy.row(name);
    one.set("class", JsonValue::string(name));
    one.set("device", JsonValue::string(row == nullptr ? policy.default_device : row->device));
    one.set("row", JsonValue::boolean(row != nullptr));
    one.set("why", row == nullptr ? JsonValue::null() : text_or_null(row->why));
    one.set("evidence", row == nullptr ? JsonValue::null() : evidence_value(policy, *row, now_s));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::vector<std::string> finding_lines(const PolicyFindings& findings, const std::string& file) {
  std::vector<std::string> out;
  for (const PolicyFinding& finding : findings.sorted()) {
    std::string place = file;
    if (finding.place.line > 0) {
      place +=
          ":" + std::to_string(finding.place.line) + ":" + std::to_string(finding.place.column);
    }
    out.push_back(place + ": " + severity_word(finding.severity) + ": " + finding.sentence());
  }
  const std::size_t left = findings.errors() + findings.warnings() - findings.all().size();
  if (left > 0) out.push_back(file + ": and " + std::to_string(left) + " more");
  return out;
}

std::string finding_counts(const PolicyFindings& findings) {
  return counted(findings.errors(), "error") + ", " + counted(findings.warnings(), "warning");
}

std::string policy_table(const PolicyCheck& check, const std::string& file, std::int64_t now_s) {
  const RoutePolicy& policy = check.policy;
  std::vector<Row> rows = {{"class", "device", "why", "evidence"}};
  for (const std::string& name : policy.classes()) {
    const PolicyRow* row = policy.row(name);
    if (row == nullptr) {
      rows.push_back({name, policy.default_device, "no row: the default", "not needed"});
    } else {
      rows.push_back({name, row->device, row->why.empty() ? "-" : shortened(row->why, kWhyCharsMax),
                      age_text(policy, *row, now_s)});
    }
  }
  return file + ": ok, " + version_text(policy) + ", default " + policy.default_device +
         ", threshold " + threshold_text(policy) + "\n" + table_text(std::move(rows));
}

std::string policy_check_json(const PolicyCheck& check, const std::string& file, bool strict,
                              std::int64_t now_s) {
  const PolicyFindings& findings = check.findings;
  const bool valid = findings.errors() == 0 && !(strict && findings.warnings() > 0);
  JsonValue list = JsonValue::array();
  for (const PolicyFinding& finding : findings.sorted()) list.push_back(finding_value(finding));
  JsonValue out = JsonValue::object();
  out.set("file", JsonValue::string(file));
  out.set("version",
          check.policy.version == 0 ? JsonValue::null() : JsonValue::integer(check.policy.version));
  out.set("valid", JsonValue::boolean(valid));
  out.set("errors", JsonValue::integer(static_cast<std::int64_t>(findings.errors())));
  out.set("warnings", JsonValue::integer(static_cast<std::int64_t>(findings.warnings())));
  out.set("findings", std::move(list));
  if (findings.errors() == 0) {
    out.set("default", JsonValue::string(check.policy.default_device));
    out.set("classes", classes_value(check.policy, now_s));
  }
  return write_json(out, base::JsonStyle::kIndent1);
}

std::string_view policy_schema() { return schema_files().front().content; }

}  // namespace layard::gateway
