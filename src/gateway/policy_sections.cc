#include "gateway/policy_sections.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "base/utf8.h"
#include "gateway/policy_devices.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kWaitMsMax = 600'000;
constexpr std::int64_t kYearS = 31'536'000;
constexpr std::int64_t kCharsMax = std::int64_t{1} << 20;
constexpr std::int64_t kConversationsMax = std::int64_t{1} << 20;
constexpr std::int64_t kRequestsMax = 1'000'000'000;
constexpr double kGainMsMax = 1e9;
constexpr std::size_t kListMax = 16;
constexpr std::size_t kModelNamesMax = 64;
constexpr std::size_t kModelNameCharsMax = 256;

bool is_model_name(std::string_view name) {
  const bool plain = std::ranges::all_of(
      name, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\x7F'; });
  return plain && !name.empty() && base::count_code_points(name) <= kModelNameCharsMax;
}

void read_decide(const PolicyNode& node, PolicyFields& fields, DecideRule& out) {
  if (!fields.section(node)) return;
  fields.unknown(node, {"when", "timeout_ms", "on_error", "max_chars"}, true);
  if (const auto when = fields.word(node, "when", {"always", "useful", "shadow"})) {
    out.when = static_cast<DecideWhen>(*when);
  }
  fields.word(node, "on_error", {"default"});
  fields.whole(node, "timeout_ms", 1, kWaitMsMax, out.timeout_ms);
  fields.whole(node, "max_chars", 1, kCharsMax, out.max_chars);
}

void read_sticky(const PolicyNode& node, PolicyFields& fields, StickyRule& out) {
  if (!fields.section(node)) return;
  fields.unknown(node, {"ttl_s", "max_entries", "headers"}, true);
  fields.whole(node, "ttl_s", 1, kYearS, out.ttl_s);
  fields.whole(node, "max_entries", 1, kConversationsMax, out.max_entries);
  fields.texts(node, "headers", kListMax, is_header_name, "names of headers", out.headers);
}

// An object of named objects: calls `read` with each, and a good name.
template <class Read>
void read_entries(const PolicyNode& node, PolicyFields& fields, Read read) {
  if (!fields.section(node)) return;
  if (node.value->size() > kPolicyEntriesMax) {
    fields.error(node, "\"" + node.name + "\" must have at most 256 members", "");
    return;
  }
  for (std::size_t i = 0; i < node.value->size(); ++i) {
    const PolicyNode entry = node.child(i);
    if (!is_policy_name(entry.name)) {
      fields.findings().error_at_name(
          PolicyFaultKind::kStructure, entry, shown_text(entry.name) + " cannot be a name here",
          "a name has 1 to 64 letters, digits and ._:/-, a letter or digit first");
    }
    if (fields.section(entry)) read(entry);
  }
}

void read_interval(const PolicyNode& node, PolicyFields& fields, PolicyEvidence& out) {
  const PolicyNode interval = node.member("ci95_ms");
  if (!interval.present()) return;
  const auto is_bound = [](const base::JsonValue& item) {
    return item.is_number() && item.as_double() >= -kGainMsMax && item.as_double() <= kGainMsMax;
  };
  const auto items = interval.value->items();
  if (items.size() == 2 && std::ranges::all_of(items, is_bound)) {
    out.low_ms = items[0].as_double();
    out.high_ms = items[1].as_double();
  } else {
    fields.error(interval, "\"ci95_ms\" must be two numbers of milliseconds",
                 "write [LOW, HIGH], the 95 % interval of gain_ms");
  }
}

bool is_date_form(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) return false;
  }
  return true;
}

// A text of a certain form.
void read_formed(const PolicyNode& node, std::string_view key, bool (*is_good)(std::string_view),
                 const std::string& form, PolicyFields& fields, std::string& out) {
  const PolicyNode member = node.member(key);
  if (!member.present()) return;
  if (member.value->is_string() && is_good(member.value->text())) {
    out = member.value->text();
  } else {
    fields.error(member, "\"" + std::string(key) + "\" must be " + form, "");
  }
}

PolicyEvidence read_evidence(const PolicyNode& node, PolicyFields& fields) {
  PolicyEvidence out;
  out.name = node.name;
  fields.unknown(node,
                 {"profile", "model_sha256", "class", "device", "n", "baseline", "gain_ms",
                  "ci95_ms", "file", "date"},
                 true);
  for (const char* key : {"n", "baseline", "gain_ms", "ci95_ms", "date"}) {
    if (!node.member(key).present()) {
      fields.missing(node, key, "evidence says n, baseline, gain_ms, ci95_ms and date");
    }
  }
  fields.text(node, "profile", kPolicyTextCharsMax, out.profile);
  fields.text(node, "file", kPolicyTextCharsMax, out.file);
  fields.name(node, "class", out.class_name);
  fields.name(node, "device", out.device);
  fields.name(node, "baseline", out.baseline);
  fields.whole(node, "n", 1, kRequestsMax, out.n);
  fields.number(node, "gain_ms", -kGainMsMax, kGainMsMax, out.gain_ms);
  read_interval(node, fields, out);
  read_formed(node, "model_sha256", base::is_sha256_hex, "64 hex digits in lower case", fields,
              out.model_sha256);
  read_formed(node, "date", is_date_form, "a date of the form YYYY-MM-DD", fields, out.date);
  return out;
}

}  // namespace

void read_policy_sections(const PolicyNode& root, PolicyFields& fields, RoutePolicy& policy) {
  fields.texts(root, "model_names", kModelNamesMax, is_model_name, "names of models",
               policy.model_names);
  fields.flag(root, "alternates_on_error", policy.alternates_on_error);
  read_decide(root.member("decide"), fields, policy.decide);
  read_sticky(root.member("sticky"), fields, policy.sticky);
  read_entries(root.member("devices"), fields, [&](const PolicyNode& node) {
    policy.servers.push_back(read_policy_device(node, fields));
  });
  read_entries(root.member("evidence"), fields, [&](const PolicyNode& node) {
    policy.evidence.push_back(read_evidence(node, fields));
  });
}

}  // namespace layard::gateway
