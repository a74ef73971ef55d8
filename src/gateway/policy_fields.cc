#include "gateway/policy_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "layard/words.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::int64_t kExactMax = std::int64_t{1} << 53;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// 1024, 1024.0 and 1.024e3 are the same number, to JSON Schema too.
std::optional<std::int64_t> whole_number(const JsonValue& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.as_double();
  if (!(std::abs(number) <= static_cast<double>(kExactMax))) return std::nullopt;
  if (number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string quoted(std::string_view name) { return shown_text(name); }

std::string plain_number(double number) {
  const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
  return is_whole ? std::to_string(static_cast<std::int64_t>(number))
                  : write_json(JsonValue::real(number), base::JsonStyle::kCompact);
}

// What to do about a text where a number is wanted.
std::string number_fix(const JsonValue& value, std::string otherwise) {
  if (!value.is_string()) return otherwise;
  const auto read = base::parse_json(value.text().substr(0, 64), {});
  return read.ok() && read->is_number() ? "write the number without quotes" : otherwise;
}

std::string listed_words(std::initializer_list<std::string_view> words) {
  std::string out;
  std::size_t left = words.size();
  for (const std::string_view word : words) {
    out += quoted(word);
    --left;
    if (left > 0) out += left == 1 ? " or " : ", ";
  }
  return out;
}

}  // namespace

bool is_policy_name(std::string_view name) {
  if (name.empty() || name.size() > kPolicyNameCharsMax) return false;
  if (!is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || std::string_view("._:/-").find(c) != std::string_view::npos;
  });
}

bool is_header_name(std::string_view name) {
  if (name.empty() || name.size() > kPolicyNameCharsMax) return false;
  return std::ranges::all_of(name,
                             [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

bool is_environment_name(std::string_view name) {
  if (name.empty() || name.size() > 128 || (name.front() >= '0' && name.front() <= '9')) {
    return false;
  }
  return std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_url_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() > 1024) return false;
  constexpr std::string_view kPath = "/._~:@!$&'()*+,;=%-";
  return std::ranges::all_of(path, [&](char c) {
    return is_letter_or_digit(c) || kPath.find(c) != std::string_view::npos;
  });
}

bool is_server_url(std::string_view url) {
  if (url.size() > 2048) return false;
  if (url.starts_with("http://")) {
    url.remove_prefix(7);
  } else if (url.starts_with("https://")) {
    url.remove_prefix(8);
  } else {
    return false;
  }
  const std::string_view host = url.substr(0, url.find('/'));
  // A host, an IPv6 address in brackets, and a port; a user's name and a password are none of ours.
  constexpr std::string_view kHost = ".-_:[]";
  if (host.empty() || host.front() == ':') return false;
  const bool host_ok = std::ranges::all_of(host, [&](char c) {
    return is_letter_or_digit(c) || kHost.find(c) != std::string_view::npos;
  });
  constexpr std::string_view kPath = "/._~:@!$&'()*+,;=%-";
  return host_ok && std::ranges::all_of(url.substr(host.size()), [&](char c) {
           return is_letter_or_digit(c) || kPath.find(c) != std::string_view::npos;
         });
}

bool PolicyFields::section(const PolicyNode& node) {
  if (!node.present()) return false;
  if (node.value->is_object()) return true;
  error(node, quoted(node.name) + " must be an object", "");
  return false;
}

void PolicyFields::error(const PolicyNode& node, std::string what, std::string fix) {
  findings_.error(PolicyFaultKind::kStructure, node, std::move(what), std::move(fix));
}

void PolicyFields::missing(const PolicyNode& parent, std::string_view key, std::string fix) {
  findings_.add({PolicySeverity::kError, PolicyFaultKind::kStructure, parent.pointer,
                 parent.places == nullptr ? PolicyPlace{} : parent.places->value,
                 quoted(key) + " is missing", "", std::move(fix)});
}

void PolicyFields::number(const PolicyNode& parent, std::string_view key, double low, double high,
                          double& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  const double found = node.value->as_double();
  if (node.value->is_number() && found >= low && found <= high) {
    out = found;
    return;
  }
  const std::string range = plain_number(low) + " to " + plain_number(high);
  error(node, quoted(key) + " must be a number from " + range,
        number_fix(*node.value, "write one of that range"));
}

void PolicyFields::whole(const PolicyNode& parent, std::string_view key, std::int64_t low,
                         std::int64_t high, std::int64_t& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  const auto found = whole_number(*node.value);
  if (found.has_value() && *found >= low && *found <= high) {
    out = *found;
    return;
  }
  error(node,
        quoted(key) + " must be a whole number from " + std::to_string(low) + " to " +
            std::to_string(high),
        number_fix(*node.value, "write one of that range"));
}

void PolicyFields::text(const PolicyNode& parent, std::string_view key, std::size_t chars_max,
                        std::string& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  const bool good = node.value->is_string() && !node.value->text().empty() &&
                    base::count_code_points(node.value->text()) <= chars_max;
  if (good) {
    out = node.value->text();
    return;
  }
  const std::string bound =
      chars_max == kAnyChars ? "" : " of at most " + std::to_string(chars_max) + " characters";
  error(node, quoted(key) + " must be a text" + bound,
        node.value->is_string() ? "" : "put it in quotes");
}

void PolicyFields::name(const PolicyNode& parent, std::string_view key, std::string& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  if (node.value->is_string() && is_policy_name(node.value->text())) {
    out = node.value->text();
    return;
  }
  error(node, quoted(key) + " must be a name",
        "a name has 1 to 64 letters, digits and ._:/-, a letter or digit first");
}

void PolicyFields::flag(const PolicyNode& parent, std::string_view key, bool& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  if (node.value->is_bool()) {
    out = node.value->as_bool();
    return;
  }
  error(node, quoted(key) + " must be true or false", "write it without quotes");
}

std::optional<std::size_t> PolicyFields::word(const PolicyNode& parent, std::string_view key,
                                              std::initializer_list<std::string_view> words) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return std::nullopt;
  if (node.value->is_string()) {
    const auto found = std::ranges::find(words, std::string_view(node.value->text()));
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  error(node, quoted(key) + " must be " + listed_words(words), "");
  return std::nullopt;
}

void PolicyFields::texts(const PolicyNode& parent, std::string_view key, std::size_t count_max,
                         bool (*is_good)(std::string_view), std::string_view what,
                         std::vector<std::string>& out) {
  const PolicyNode node = parent.member(key);
  if (!node.present()) return;
  if (!node.value->is_array() || node.value->size() > count_max) {
    error(node,
          quoted(key) + " must be a list of at most " + std::to_string(count_max) + " " +
              std::string(what),
          "write [\"...\", \"...\"]");
    return;
  }
  for (std::size_t i = 0; i < node.value->size(); ++i) {
    const PolicyNode item = node.child(i);
    if (item.value->is_string() && is_good(item.value->text())) {
      out.push_back(item.value->text());
    } else {
      error(item, quoted(key) + " must hold " + std::string(what), "");
    }
  }
}

void PolicyFields::unknown(const PolicyNode& object, std::initializer_list<std::string_view> known,
                           bool strict) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (std::size_t i = 0; i < object.value->size(); ++i) {
    const PolicyNode node = object.child(i);
    if (std::ranges::find(known, std::string_view(node.name)) != known.end()) continue;
    if (node.name.starts_with("x-")) continue;
    if (strict) {
      const auto meant = closest_name(node.name, names);
      findings_.error_at_name(
          PolicyFaultKind::kStructure, node, "nothing reads the member " + quoted(node.name),
          meant ? "did you mean " + quoted(*meant) + "?"
                : "remove it, or let the name start with \"x-\" if it is your own");
    } else if (const auto meant = closest_name(node.name, names, 1)) {
      findings_.warning_at_name(node, "nothing reads the member " + quoted(node.name),
                                "did you mean " + quoted(*meant) + "?");
    }
  }
}

}  // namespace layard::gateway
