#include "gateway/derive_write.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "gateway/policy_check.h"
#include "gateway/policy_fields.h"

namespace layard::gateway {
namespace {

using base::JsonMember;
using base::JsonValue;

constexpr std::int64_t kDayS = 86400;
constexpr double kBuiltInThreshold = 0.16;
// What a file without version may have that one with it knows.
constexpr std::array<std::string_view, 8> kCarried = {
    "about", "$schema", "min_confidence", "gate_on", "default", "size_gate", "question", "classes"};

JsonValue string_value(const std::string& text) { return JsonValue::string(text); }

// Milliseconds to the tenth.
JsonValue ms_value(double value) { return JsonValue::real(std::round(value * 10) / 10); }

bool is_derived(const DerivedRow& row) { return row.verdict != RowVerdict::kNotMeasured; }

class Writer {
 public:
  Writer(const Derivation& derivation, const MeasuredEvidence& evidence, const DeriveBase& base,
         const DeriveOptions& options)
      : derivation_(derivation), evidence_(evidence), base_(base), options_(options) {}

  JsonValue policy() {
    start();
    out_.set("default", string_value(derivation_.default_device));
    JsonValue rows = JsonValue::object();
    entries_ = JsonValue::object();
    for (const DerivedRow& row : derivation_.rows) rows.set(row.class_name, row_json(row));
    out_.set("classes", std::move(rows));
    set_decide();
    set_devices();
    if (entries_.size() > 0) {
      out_.set("evidence", std::move(entries_));
    } else {
      out_.erase("evidence");
    }
    return std::move(out_);
  }

 private:
  void start() {
    out_ = JsonValue::object();
    out_.set("version", JsonValue::integer(kPolicyVersion));
    if (!base_.text) {
      out_.set("min_confidence", JsonValue::real(kBuiltInThreshold));
      return;
    }
    const bool versioned = base_.policy.version > 0;
    for (const JsonMember& member : base_.text->root.members()) {
      const bool known = std::ranges::find(kCarried, member.key) != kCarried.end();
      if (member.key == "version" || (!versioned && !known)) continue;
      out_.set(member.key, member.value);
    }
  }

  const JsonValue* base_row(const std::string& class_name) const {
    if (!base_.text) return nullptr;
    const JsonValue* rows = base_.text->root.find("classes");
    return rows == nullptr ? nullptr : rows->find(class_name);
  }

  JsonValue row_json(const DerivedRow& row) {
    const JsonValue* old = base_row(row.class_name);
    JsonValue out = old == nullptr ? JsonValue::object() : *old;
    if (base_.policy.version == 0) keep_known(out);
    if (!is_derived(row) && keeps_base_row(row, out)) return out;
    out.set("device", string_value(row.device));
    drop_alternate(row.device, out);
    out.set("why", string_value(row.why.substr(0, kPolicyTextCharsMax)));
    out.erase("evidence");
    if (!row.other.empty()) {
      out.set("evidence", string_value(add_evidence(row)));
    }
    return out;
  }

  static void keep_known(JsonValue& row) {
    JsonValue kept = JsonValue::object();
    for (const char* name : {"device", "alternates"}) {
      if (const JsonValue* member = row.find(name)) kept.set(name, *member);
    }
    row = std::move(kept);
  }

  // Of a class that was not measured: whether the row may stay where it was.
  bool keeps_base_row(const DerivedRow& row, const JsonValue& out) {
    const PolicyRow* old = base_.policy.row(row.class_name);
    if (old == nullptr) return false;
    if (old->device == derivation_.default_device && old->evidence.empty()) {
      return out.find("why") != nullptr;
    }
    const PolicyEvidence* entry = base_.policy.find_evidence(old->evidence);
    if (entry == nullptr || entry->baseline != derivation_.default_device) return false;
    const JsonValue* entries = base_.text->root.find("evidence");
    if (entries == nullptr || entries->find(old->evidence) == nullptr) return false;
    entries_.set(old->evidence, *entries->find(old->evidence));
    return true;
  }

  static void drop_alternate(const std::string& device, JsonValue& row) {
    const JsonValue* old = row.find("alternates");
    if (old == nullptr) return;
    JsonValue kept = JsonValue::array();
    for (const JsonValue& one : old->items()) {
      if (one.text() != device) kept.push_back(one);
    }
    row.set("alternates", std::move(kept));
  }

  std::string add_evidence(const DerivedRow& row) {
    constexpr std::size_t kNameBytesMax = 60;
    std::string name = ("derived-" + row.class_name).substr(0, kNameBytesMax);
    while (entries_.find(name) != nullptr) name += "-";
    JsonValue entry = JsonValue::object();
    if (!evidence_.profile.empty()) entry.set("profile", string_value(evidence_.profile));
    if (!evidence_.model_sha256.empty()) {
      entry.set("model_sha256", string_value(evidence_.model_sha256));
    }
    entry.set("class", string_value(row.class_name));
    entry.set("device", string_value(row.other));
    entry.set("n", JsonValue::integer(static_cast<std::int64_t>(row.prompts)));
    entry.set("baseline", string_value(derivation_.default_device));
    entry.set("gain_ms", ms_value(row.gain.mean));
    JsonValue interval = JsonValue::array();
    interval.push_back(ms_value(row.gain.low));
    interval.push_back(ms_value(row.gain.high));
    entry.set("ci95_ms", std::move(interval));
    if (!options_.evidence_file.empty()) {
      entry.set("file", string_value(options_.evidence_file.substr(0, kPolicyTextCharsMax)));
    }
    entry.set("date", string_value(evidence_.date));
    entries_.set(name, std::move(entry));
    return name;
  }

  void set_decide() {
    JsonValue* decide = out_.find_mutable("decide");
    if (decide == nullptr) decide = &out_.set("decide", JsonValue::object());
    decide->set("when", string_value("useful"));
  }

  std::vector<std::string> named_devices() const {
    std::vector<std::string> out = {derivation_.default_device};
    const auto add = [&](const std::string& name) {
      if (!name.empty() && std::ranges::find(out, name) == out.end()) out.push_back(name);
    };
    for (const JsonMember& row : out_.find("classes")->members()) {
      if (const JsonValue* device = row.value.find("device")) add(device->text());
      const JsonValue* alternates = row.value.find("alternates");
      if (alternates == nullptr) continue;
      for (const JsonValue& one : alternates->items()) add(one.text());
    }
    return out;
  }

  void set_devices() {
    const std::vector<std::string> names = named_devices();
    const auto has_url = [&](const std::string& name) {
      const MeasuredDevice* device = evidence_.find_device(name);
      return device != nullptr && !device->url.empty();
    };
    JsonValue* devices = out_.find_mutable("devices");
    if (devices == nullptr && !std::ranges::all_of(names, has_url)) return;
    if (devices == nullptr) devices = &out_.set("devices", JsonValue::object());
    for (const std::string& name : names) {
      if (devices->find(name) != nullptr) continue;
      JsonValue entry = JsonValue::object();
      if (has_url(name)) {
        const MeasuredDevice& device = *evidence_.find_device(name);
        entry.set("url", string_value(device.url));
        if (!device.model.empty()) entry.set("model", string_value(device.model));
      }
      devices->set(name, std::move(entry));
    }
  }

  const Derivation& derivation_;
  const MeasuredEvidence& evidence_;
  const DeriveBase& base_;
  const DeriveOptions& options_;
  JsonValue out_;
  JsonValue entries_;
};

}  // namespace

Result<DeriveBase> read_derive_base(std::string_view text, const std::string& source) {
  DeriveBase out;
  LAYARD_ASSIGN(out.policy, RoutePolicy::parse(text, source));
  PolicyFindings findings;
  out.text = read_policy_text(text, source, findings);
  return out;
}

Result<std::string> write_derived_policy(const Derivation& derivation,
                                         const MeasuredEvidence& evidence, const DeriveBase& base,
                                         const DeriveOptions& options) {
  const std::string text =
      write_json(Writer(derivation, evidence, base, options).policy(), base::JsonStyle::kIndent1) +
      "\n";
  PolicyCheckOptions check;
  check.now_s = day_number(evidence.date).value_or(0) * kDayS;
  const PolicyCheck checked = check_policy(text, "derived.json", check);
  for (const PolicyFinding& finding : checked.findings.all()) {
    if (finding.severity != PolicySeverity::kError) continue;
    return Error{ErrorCode::kInvalidRequest,
                 "the derived policy would not pass `layard route check`: " + finding.sentence()};
  }
  return text;
}

}  // namespace layard::gateway
