#include "server/serve_options.h"

#include <algorithm>

#include "server/access.h"
#include "server/settings.h"

namespace layard::server {
namespace {

using base::JsonValue;
using Values = std::vector<std::string>;

constexpr std::uint64_t kFileBytesMax = 1 << 20;
constexpr std::size_t kKeyBytesMax = 4096;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

Status set(const Setting& setting, const std::string& source, const Values& values,
           ServeOptions& options) {
  const Status status = setting.set(options, values);
  if (status.ok()) return status;
  return invalid(source + ": " + status.error().message);
}

// Names of a list in one variable stand between commas.
Values split(const std::string& text) {
  Values out;
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
std::optional<Values> values_of(const JsonValue& value) {
  if (value.is_string() || value.is_number()) return Values{value.text()};
  if (value.is_bool()) return Values{value.as_bool() ? "true" : "false"};
  if (!value.is_array()) return std::nullopt;
  Values out;
  for (const JsonValue& item : value.items()) {
    if (!item.is_string()) return std::nullopt;
    out.push_back(item.text());
  }
  return out;
}

Result<JsonValue> read_file(base::Filesystem& files, const std::string& path) {
  LAYARD_ASSIGN(const std::string text, files.read_text(path, kFileBytesMax));
  auto value = base::parse_json(text, base::JsonLimits{});
  if (!value.ok()) return invalid(path + ": " + value.error().message);
  if (!value->is_object()) return invalid(path + ": must be an object of settings");
  return value;
}

Status apply_file(const JsonValue& file, const std::string& path, ServeOptions& options) {
  for (const auto& [name, value] : file.members()) {
    const std::string source = path + ": " + name;
    const Setting* setting = find_setting(name);
    if (setting == nullptr || name == "config") {
      return invalid(source +
                     ": no such setting; `layard serve --help` lists them, written here "
                     "with _ for -");
    }
    const auto values = values_of(value);
    const bool is_list = setting->info.kind == SettingKind::kModels;
    if (!values.has_value() || values->empty() || (values->size() > 1 && !is_list)) {
      return invalid(source + (is_list ? ": must be a list of names" : ": must be one value"));
    }
    LAYARD_TRY(set(*setting, source, *values, options));
  }
  return {};
}

Status apply_environment(const base::Env& env, ServeOptions& options) {
  for (const Setting& setting : settings()) {
    const auto text = env.get_non_empty(setting.info.variable);
    if (!text.has_value()) continue;
    const bool is_list = setting.info.kind == SettingKind::kModels;
    const Values values = is_list ? split(*text) : Values{*text};
    if (values.empty()) continue;
    LAYARD_TRY(set(setting, std::string(setting.info.variable), values, options));
  }
  return {};
}

Status apply_flags(const GivenSettings& flags, ServeOptions& options) {
  for (const auto& [name, values] : flags) {
    const Setting* setting = find_setting(name);
    if (setting == nullptr) return invalid(flag_name(name) + ": no such option");
    if (values.empty()) continue;
    LAYARD_TRY(set(*setting, flag_name(name), values, options));
  }
  return {};
}

// The file that --config or its variable names, below both.
Status apply_config(const SettingSources& sources, ServeOptions& options) {
  std::string path = sources.env->get_non_empty("LAYARD_SERVE_CONFIG").value_or("");
  const auto flag = sources.flags.find("config");
  if (flag != sources.flags.end() && !flag->second.empty()) path = flag->second.back();
  if (path.empty()) return {};
  LAYARD_ASSIGN(const JsonValue file, read_file(*sources.files, path));
  return apply_file(file, path, options);
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kKeyBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

Status read_key(const SettingSources& sources, ServeOptions& options) {
  std::string source = "LAYARD_API_KEY";
  std::string key = sources.env->get_non_empty(source).value_or("");
  if (key.empty() && !options.api_key_file.empty()) {
    source = options.api_key_file;
    LAYARD_ASSIGN(key, sources.files->read_text(source, kFileBytesMax));
    key.resize(std::min(key.find_first_of("\r\n"), key.size()));
    if (key.empty()) return invalid(source + ": its first line is empty; put the key there");
  }
  if (!key.empty() && !is_key(key)) {
    return invalid(source + ": a key is up to " + std::to_string(kKeyBytesMax) +
                   " printable ASCII characters without blanks");
  }
  options.api_key = std::move(key);
  return {};
}

Status check_whole(const ServeOptions& options) {
  LAYARD_TRY(http::check_options(options.http));
  if (is_loopback_host(options.http.host)) return {};
  if (!options.allow_remote) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; add --allow-remote and a key, or keep "
                   "127.0.0.1");
  }
  if (options.api_key.empty()) {
    return invalid("host " + options.http.host +
                   " can be reached by other machines; set LAYARD_API_KEY or --api-key-file, so "
                   "that not everybody is answered");
  }
  return {};
}

}  // namespace

std::span<const SettingInfo> setting_table() {
  static const std::vector<SettingInfo> table = [] {
    std::vector<SettingInfo> out;
    for (const Setting& setting : settings()) out.push_back(setting.info);
    return out;
  }();
  return table;
}

std::string flag_name(std::string_view setting) {
  std::string out = "--" + std::string(setting);
  std::ranges::replace(out, '_', '-');
  return out;
}

Result<ServeOptions> read_serve_options(const SettingSources& sources) {
  ServeOptions options;
  options.http.port = 8642;
  LAYARD_TRY(apply_config(sources, options));
  LAYARD_TRY(apply_environment(*sources.env, options));
  LAYARD_TRY(apply_flags(sources.flags, options));
  LAYARD_TRY(read_key(sources, options));
  LAYARD_TRY(check_whole(options));
  return options;
}

Result<ServeOptions> serve_options_from_process(const GivenSettings& flags) {
  const base::ProcessEnv env;
  return read_serve_options({flags, &env, &base::real_filesystem()});
}

std::string print_serve_options(const ServeOptions& options) {
  JsonValue out = JsonValue::object();
  for (const Setting& setting : settings()) out.set(setting.info.name, setting.get(options));
  out.set("api_key", JsonValue::boolean(!options.api_key.empty()));
  return base::write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::server
