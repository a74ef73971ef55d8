#include "base/env.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace layard::base {
namespace {

std::string upper(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

}  // namespace

std::optional<std::string> Env::get_non_empty(std::string_view name) const {
  auto value = get(name);
  if (value && value->empty()) value.reset();
  return value;
}

std::filesystem::path Env::home() const {
  const auto value = get_non_empty("HOME");
  return value ? std::filesystem::path(*value) : fallback_home();
}

std::filesystem::path Env::expand_home(std::string_view text) const {
  if (text == "~") return home();
  if (text.starts_with("~/")) return home() / text.substr(2);
  return std::filesystem::path(text);
}

std::optional<std::string> ProcessEnv::get(std::string_view name) const {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::filesystem::path ProcessEnv::fallback_home() const {
  std::array<char, 16384> buffer{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_dir == nullptr) {
    return {};
  }
  return found->pw_dir;
}

std::optional<std::string> FixedEnv::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

bool is_true_value(std::string_view value) {
  const std::string word = upper(value);
  return word == "1" || word == "ON" || word == "YES" || word == "TRUE";
}

bool is_false_value(std::string_view value) {
  const std::string word = upper(value);
  return word == "0" || word == "OFF" || word == "NO" || word == "FALSE";
}

}  // namespace layard::base
