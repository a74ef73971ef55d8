#include "base/settings.h"

#include <algorithm>
#include <charconv>

namespace layard::base {
namespace {

constexpr std::uint64_t kFileBytesMax = 1 << 20;
constexpr std::size_t kKeyBytesMax = 4096;
constexpr std::size_t kFoundBytesMax = 60;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

Status set(const SettingTarget& target, const std::string& source, const SettingValues& values) {
  const Status status = target.set(values);
  if (status.ok()) return status;
  return invalid(source + ": " + status.error().message);
}

const SettingTarget* find(std::span<const SettingTarget> targets, std::string_view name) {
  const auto found = std::ranges::find(
      targets, name, [](const SettingTarget& target) { return target.info.name; });
  return found == targets.end() ? nullptr : &*found;
}

// Names of a list in one variable stand between commas.
SettingValues split(const std::string& text) {
  SettingValues out;
  std::string word;
  for (const char c : text + ",") {
    if (c != ',') {
      if (c != ' ') word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, ""));
    }
  }
  return out;
}

// A member of the file as a command line would have it; nothing for other kinds of value.
std::optional<SettingValues> values_of(const JsonValue& value) {
  if (value.is_string() || value.is_number()) return SettingValues{value.text()};
  if (value.is_bool()) return SettingValues{value.as_bool() ? "true" : "false"};
  if (!value.is_array()) return std::nullopt;
  SettingValues out;
  for (const JsonValue& item : value.items()) {
    if (!item.is_string()) return std::nullopt;
    out.push_back(item.text());
  }
  return out;
}

Result<JsonValue> read_file(Filesystem& files, const std::string& path) {
  LAYARD_ASSIGN(const std::string text, files.read_text(path, kFileBytesMax));
  auto value = parse_json(text, JsonLimits{});
  if (!value.ok()) return invalid(path + ": " + value.error().message);
  if (!value->is_object()) return invalid(path + ": must be an object of settings");
  return value;
}

Status apply_file(std::span<const SettingTarget> targets, const JsonValue& file,
                  const std::string& path, std::string_view program) {
  for (const auto& [name, value] : file.members()) {
    const std::string source = path + ": " + name;
    const SettingTarget* target = find(targets, name);
    if (target == nullptr || name == "config") {
      return invalid(source + ": no such setting; `" + std::string(program) +
                     " --help` lists them, written here with _ for -");
    }
    const auto values = values_of(value);
    const bool list = is_list(target->info);
    if (!values.has_value() || values->empty() || (values->size() > 1 && !list)) {
      return invalid(source + (list ? ": must be a list of names" : ": must be one value"));
    }
    LAYARD_TRY(set(*target, source, *values));
  }
  return {};
}

Status apply_environment(std::span<const SettingTarget> targets, const Env& env) {
  for (const SettingTarget& target : targets) {
    const auto text = env.get_non_empty(target.info.variable);
    if (!text.has_value()) continue;
    const SettingValues values = is_list(target.info) ? split(*text) : SettingValues{*text};
    if (values.empty()) continue;
    LAYARD_TRY(set(target, std::string(target.info.variable), values));
  }
  return {};
}

Status apply_flags(std::span<const SettingTarget> targets, const GivenSettings& flags) {
  for (const auto& [name, values] : flags) {
    const SettingTarget* target = find(targets, name);
    if (target == nullptr) return invalid(flag_name(name) + ": no such option");
    if (values.empty()) continue;
    LAYARD_TRY(set(*target, flag_name(name), values));
  }
  return {};
}

std::string config_path(std::span<const SettingTarget> targets, const SettingSources& sources) {
  const auto flag = sources.flags.find("config");
  if (flag != sources.flags.end() && !flag->second.empty()) return flag->second.back();
  const SettingTarget* target = find(targets, "config");
  if (target == nullptr) return "";
  return sources.env->get_non_empty(target->info.variable).value_or("");
}

bool is_key(std::string_view text) {
  return text.size() <= kKeyBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

bool is_list(const SettingInfo& info) {
  return info.kind == SettingKind::kModels || info.kind == SettingKind::kTexts;
}

std::string flag_name(std::string_view setting) {
  std::string out = "--" + std::string(setting);
  std::ranges::replace(out, '_', '-');
  return out;
}

Status read_settings(std::span<const SettingTarget> targets, const SettingSources& sources,
                     std::string_view program) {
  if (const std::string path = config_path(targets, sources); !path.empty()) {
    LAYARD_ASSIGN(const JsonValue file, read_file(*sources.files, path));
    LAYARD_TRY(apply_file(targets, file, path, program));
  }
  LAYARD_TRY(apply_environment(targets, *sources.env));
  return apply_flags(targets, sources.flags);
}

Error setting_error(const std::string& what, const std::string& found) {
  std::string shown = found.substr(0, kFoundBytesMax);
  // Not within a character.
  while (shown.size() < found.size() && !shown.empty() &&
         (static_cast<unsigned char>(found[shown.size()]) & 0xC0U) == 0x80) {
    shown.pop_back();
  }
  if (shown.size() < found.size()) shown += "...";
  return invalid("must be " + what + ", got '" + shown + "'");
}

Result<bool> read_switch(const std::string& word) {
  std::string lower = word;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* yes : {"true", "1", "on", "yes"}) {
    if (lower == yes) return true;
  }
  for (const char* no : {"false", "0", "off", "no"}) {
    if (lower == no) return false;
  }
  return setting_error("true or false", word);
}

Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    return setting_error(
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most), text);
  }
  return number;
}

Result<std::string> read_key(const SettingSources& sources, const std::string& variable,
                             const std::string& path) {
  std::string source = variable;
  std::string key = sources.env->get_non_empty(variable).value_or("");
  if (key.empty() && !path.empty()) {
    source = path;
    LAYARD_ASSIGN(key, sources.files->read_text(path, kFileBytesMax));
    key.resize(std::min(key.find_first_of("\r\n"), key.size()));
    if (key.empty()) return invalid(source + ": its first line is empty; put the key there");
  }
  if (!is_key(key)) {
    return invalid(source + ": a key is up to " + std::to_string(kKeyBytesMax) +
                   " printable ASCII characters without blanks");
  }
  return key;
}

}  // namespace layard::base
