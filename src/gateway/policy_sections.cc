#include "gateway/policy_sections.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kWaitMsMax = 600'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kYearS = 31'536'000;
constexpr std::int64_t kCharsMax = std::int64_t{1} << 20;
constexpr std::int64_t kConversationsMax = std::int64_t{1} << 20;
constexpr std::int64_t kQueueMax = 100'000;
constexpr std::int64_t kRequestsMax = 1'000'000'000;
constexpr double kGainMsMax = 1e9;
constexpr std::size_t kListMax = 16;

// A member that must be an object when it is there.
bool is_section(const PolicyNode& node, PolicyFields& fields) {
  if (!node.present()) return false;
  if (node.value->is_object()) return true;
  fields.error(node, "\"" + node.name + "\" must be an object", "");
  return false;
}

void read_decide(const PolicyNode& node, PolicyFields& fields, DecideRule& out) {
  if (!is_section(node, fields)) return;
  fields.unknown(node, {"when", "timeout_ms", "on_error", "max_chars"}, true);
  if (const auto when = fields.word(node, "when", {"always", "useful", "shadow"})) {
    out.when = static_cast<DecideWhen>(*when);
  }
  fields.word(node, "on_error", {"default"});
  fields.whole(node, "timeout_ms", 1, kWaitMsMax, out.timeout_ms);
  fields.whole(node, "max_chars", 1, kCharsMax, out.max_chars);
}

void read_sticky(const PolicyNode& node, PolicyFields& fields, StickyRule& out) {
  if (!is_section(node, fields)) return;
  fields.unknown(node, {"ttl_s", "max_entries", "headers"}, true);
  fields.whole(node, "ttl_s", 1, kYearS, out.ttl_s);
  fields.whole(node, "max_entries", 1, kConversationsMax, out.max_entries);
  fields.texts(node, "headers", kListMax, is_header_name, "names of headers", out.headers);
}

// An object of named objects: calls `read` with each, and a good name.
template <class Read>
void read_entries(const PolicyNode& node, PolicyFields& fields, Read read) {
  if (!is_section(node, fields)) return;
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
    if (is_section(entry, fields)) read(entry);
  }
}

void read_url(const PolicyNode& node, PolicyFields& fields, std::string& out) {
  const PolicyNode url = node.member("url");
  if (!url.present()) return;
  if (url.value->is_string() && is_server_url(url.value->text())) {
    out = url.value->text();
  } else {
    fields.error(url, "\"url\" must be http:// or https:// with a host",
                 "such as http://127.0.0.1:9001, without a user's name, ? and #");
  }
}

PolicyDevice read_device(const PolicyNode& node, PolicyFields& fields) {
  PolicyDevice out;
  out.name = node.name;
  fields.unknown(
      node, {"url", "model", "capabilities", "connect_ms", "first_byte_ms", "idle_ms", "queue_max"},
      true);
  read_url(node, fields, out.url);
  fields.text(node, "model", kPolicyTextCharsMax, out.model);
  fields.texts(node, "capabilities", kListMax, is_policy_name, "names", out.capabilities);
  fields.whole(node, "connect_ms", 1, kWaitMsMax, out.connect_ms);
  fields.whole(node, "first_byte_ms", 0, kDayMs, out.first_byte_ms);
  fields.whole(node, "idle_ms", 0, kDayMs, out.idle_ms);
  fields.whole(node, "queue_max", 0, kQueueMax, out.queue_max);
  return out;
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
  read_decide(root.member("decide"), fields, policy.decide);
  read_sticky(root.member("sticky"), fields, policy.sticky);
  read_entries(root.member("devices"), fields, [&](const PolicyNode& node) {
    policy.servers.push_back(read_device(node, fields));
  });
  read_entries(root.member("evidence"), fields, [&](const PolicyNode& node) {
    policy.evidence.push_back(read_evidence(node, fields));
  });
}

}  // namespace layard::gateway
