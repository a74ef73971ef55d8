#include "gateway/policy_findings.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace layard::gateway {
namespace {

constexpr std::size_t kShownBytes = 60;
constexpr std::size_t kStepBytes = 120;

// At most `bytes` of `text` and dots, cut between two characters.
std::string cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

// One step of a JSON pointer (RFC 6901), bounded: the pointer is for reading.
std::string pointer_step(std::string_view name) {
  std::string out = "/";
  for (const char c : cut(name, kStepBytes)) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string shown_value(const base::JsonValue& value) {
  // A long list is not written out only to be cut.
  if (value.is_array() && value.size() > kShownBytes) return "a list of many";
  if (value.is_object() && value.size() > kShownBytes) return "an object of many members";
  if (value.is_string()) return shown_text(value.text());
  return cut(write_json(value, base::JsonStyle::kPython), kShownBytes);
}

std::string shown_text(std::string_view text) { return base::quote_json(cut(text, kShownBytes)); }

PolicyNode PolicyNode::member(std::string_view key) const {
  const PolicyNode absent{nullptr, nullptr, pointer + pointer_step(key), std::string(key)};
  if (value == nullptr || value->find(key) == nullptr) return absent;
  const auto members = value->members();
  const auto found = std::ranges::find(members, key, &base::JsonMember::key);
  return child(static_cast<std::size_t>(found - members.begin()));
}

PolicyNode PolicyNode::child(std::size_t index) const {
  const bool placed = places != nullptr && index < places->children.size();
  const PlaceTree* at = placed ? &places->children[index] : nullptr;
  if (value->is_array()) {
    const std::string number = std::to_string(index);
    return {&value->items()[index], at, pointer + "/" + number, number};
  }
  const base::JsonMember& found = value->members()[index];
  return {&found.value, at, pointer + pointer_step(found.key), found.key};
}

std::string PolicyFinding::sentence() const {
  std::string text = what;
  if (!found.empty()) text += ", found " + found;
  if (!fix.empty()) text += "; " + fix;
  return pointer.empty() ? text : text + " (" + pointer + ")";
}

void PolicyFindings::add(PolicyFinding finding) {
  std::size_t& count = finding.severity == PolicySeverity::kError ? errors_ : warnings_;
  if (++count <= kMax) findings_.push_back(std::move(finding));
}

void PolicyFindings::error(PolicyFaultKind kind, const PolicyNode& node, std::string what,
                           std::string fix) {
  add({PolicySeverity::kError, kind, node.pointer,
       node.places == nullptr ? PolicyPlace{} : node.places->value, std::move(what),
       node.present() ? shown_value(*node.value) : std::string(), std::move(fix)});
}

void PolicyFindings::warning(const PolicyNode& node, std::string what, std::string fix) {
  add({PolicySeverity::kWarning,
       PolicyFaultKind::kMeaning,
       node.pointer,
       node.places == nullptr ? PolicyPlace{} : node.places->value,
       std::move(what),
       {},
       std::move(fix)});
}

void PolicyFindings::error_at_name(PolicyFaultKind kind, const PolicyNode& node, std::string what,
                                   std::string fix) {
  add({PolicySeverity::kError,
       kind,
       node.pointer,
       node.places == nullptr ? PolicyPlace{} : node.places->name,
       std::move(what),
       {},
       std::move(fix)});
}

void PolicyFindings::warning_at_name(const PolicyNode& node, std::string what, std::string fix) {
  add({PolicySeverity::kWarning,
       PolicyFaultKind::kMeaning,
       node.pointer,
       node.places == nullptr ? PolicyPlace{} : node.places->name,
       std::move(what),
       {},
       std::move(fix)});
}

std::vector<PolicyFinding> PolicyFindings::sorted() const {
  std::vector<PolicyFinding> out = findings_;
  std::ranges::stable_sort(out, [](const PolicyFinding& a, const PolicyFinding& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return out;
}

PolicyPlace PlaceCounter::at(std::size_t offset) {
  for (const std::size_t end = std::min(offset, text_.size()); offset_ < end; ++offset_) {
    const auto byte = static_cast<unsigned char>(text_[offset_]);
    if (byte == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((byte & 0xC0U) != 0x80U) {
      ++place_.column;
    }
  }
  return place_;
}

}  // namespace layard::gateway
