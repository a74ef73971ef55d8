#include "gateway/callers.h"

#include <algorithm>
#include <utility>

#include "gateway/policy_fields.h"
#include "http/host_rules.h"
#include "http/target.h"

namespace layard::gateway {
namespace {

constexpr std::size_t kKeyCharsMin = 8;
constexpr std::size_t kKeyCharsMax = 4096;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_key(std::string_view key) {
  return key.size() >= kKeyCharsMin && key.size() <= kKeyCharsMax &&
         std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

Result<std::vector<CallerKey>> read_caller_keys(std::string_view text, const std::string& source) {
  std::vector<CallerKey> out;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    // The line is not repeated: half of it is a secret.
    const auto fault = [&](const std::string& what) {
      return Error{ErrorCode::kInvalidRequest, source + ":" + std::to_string(number) + ": " + what};
    };
    const auto blank = std::min(line.find_first_of(kBlanks), line.size());
    const std::string_view name = line.substr(0, blank);
    const std::string_view key = trimmed(line.substr(blank));
    if (!is_policy_name(name)) {
      return fault("must be NAME KEY; a name is up to 64 letters, digits and ._:/-");
    }
    if (!is_key(key)) {
      return fault("the key must be 8 to 4096 printable ASCII characters without blanks");
    }
    for (const CallerKey& other : out) {
      if (other.name == name) return fault("this name stands above already");
      if (other.key == key) return fault("this key stands above already");
    }
    if (out.size() == kCallersMax) return fault("there are more than 1024 keys");
    out.push_back({std::string(name), std::string(key)});
  }
  if (out.empty()) {
    return Error{ErrorCode::kInvalidRequest, source + ": has no key; write NAME KEY, one a line"};
  }
  return out;
}

Callers::Callers(bool loopback_only, std::vector<std::string> allowed_hosts,
                 std::vector<CallerKey> keys)
    : loopback_only_(loopback_only),
      allowed_hosts_(std::move(allowed_hosts)),
      keys_(std::move(keys)) {}

bool Callers::takes_host(const http::Fields& fields) const {
  const auto host = http::parse_host(fields.value_or_empty("Host"));
  if (!host.has_value()) return false;
  if (std::ranges::find(allowed_hosts_, host->host) != allowed_hosts_.end()) return true;
  // A gateway that other machines reach and that was given no names answers to all.
  if (!loopback_only_) return allowed_hosts_.empty() || http::is_loopback_host(host->host);
  return http::is_loopback_host(host->host);
}

std::optional<std::string> Callers::caller_of(const http::Fields& fields) const {
  if (keys_.empty()) return "";
  std::string_view given = fields.value_or_empty("X-Api-Key");
  if (const auto bearer = http::bearer_token(fields.value_or_empty("Authorization"))) {
    given = *bearer;
  }
  std::optional<std::string> found;
  for (const CallerKey& caller : keys_) {
    if (http::equal_in_constant_time(given, caller.key)) found = caller.name;
  }
  return found;
}

}  // namespace layard::gateway
