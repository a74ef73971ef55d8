#include "gateway/child_spec.h"

#include <algorithm>
#include <string_view>

namespace layard::gateway {
namespace {

Error refused(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

bool is_variable_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 256 && is_letter(name.front()) &&
         std::ranges::all_of(name, is_part);
}

Status check_text(const std::string& text, const std::string& what) {
  if (text.find('\0') != std::string::npos) return refused(what + " has a zero byte; remove it");
  if (text.size() < kChildTextBytesMax) return {};
  return refused(what + " has " + std::to_string(text.size()) + " bytes; there may be " +
                 std::to_string(kChildTextBytesMax - 1));
}

Status check_count(std::size_t count, std::size_t count_max, const std::string& what) {
  if (count <= count_max) return {};
  return refused(what + " has " + std::to_string(count) + " entries; there may be " +
                 std::to_string(count_max));
}

}  // namespace

Status check_child_spec(const ChildSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return refused("command is empty; name the program first, then its arguments");
  }
  LAYARD_TRY(check_count(spec.argv.size(), kChildArgumentsMax, "command"));
  LAYARD_TRY(check_count(spec.environment.size(), kChildVariablesMax, "env"));
  if (spec.stop_ms < 0 || spec.stop_ms > kStopMsMax) {
    return refused("stop_ms is " + std::to_string(spec.stop_ms) + "; it may be 0 to " +
                   std::to_string(kStopMsMax));
  }
  LAYARD_TRY(check_text(spec.cwd, "cwd"));
  std::size_t bytes = spec.cwd.size();
  for (std::size_t i = 0; i < spec.argv.size(); ++i) {
    LAYARD_TRY(check_text(spec.argv[i], "command[" + std::to_string(i) + "]"));
    bytes += spec.argv[i].size() + 1;
  }
  for (const auto& [name, value] : spec.environment) {
    if (!is_variable_name(name)) {
      return refused("env has '" + name.substr(0, 100) +
                     "', which is no name of a variable: letters, digits and '_', no digit first");
    }
    LAYARD_TRY(check_text(name + "=" + value, "env " + name));
    bytes += name.size() + value.size() + 2;
  }
  if (bytes <= kChildBytesMax) return {};
  return refused("command, env and cwd have " + std::to_string(bytes) +
                 " bytes together; there may be " + std::to_string(kChildBytesMax));
}

Result<std::vector<std::string>> with_port(std::vector<std::string> argv, std::uint16_t port) {
  constexpr std::string_view kPlace = "{port}";
  const std::string digits = std::to_string(port);
  for (std::size_t i = 0; i < argv.size(); ++i) {
    std::size_t at = argv[i].find(kPlace);
    if (at != std::string::npos && port == 0) {
      return refused("command[" + std::to_string(i) +
                     "] has {port}, and the device has no port; give its url one");
    }
    for (; at != std::string::npos; at = argv[i].find(kPlace, at + digits.size())) {
      argv[i].replace(at, kPlace.size(), digits);
    }
  }
  return argv;
}

Result<ChildVariables> child_environment(const base::Env& env,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> all = {"PATH", "HOME", "TMPDIR", "LANG"};
  for (const std::string& name : names) {
    if (!is_variable_name(name)) {
      return refused("env has '" + name.substr(0, 100) +
                     "', which is no name of a variable: letters, digits and '_', no digit first");
    }
    if (name.starts_with("LAYARD_") && name.find("KEY") != std::string::npos) {
      return refused("env has " + name +
                     ", a key of this program's own; give the backend a variable of its own");
    }
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  LAYARD_TRY(check_count(all.size(), kChildVariablesMax, "env"));
  ChildVariables variables;
  for (const std::string& name : all) {
    if (auto value = env.get(name)) variables.emplace_back(name, *std::move(value));
  }
  return variables;
}

}  // namespace layard::gateway
