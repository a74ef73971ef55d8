#include "gateway/policy_devices.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kWaitMsMax = 600'000;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kQueueMax = 100'000;
constexpr std::int64_t kTokensMax = 1'000'000'000;
constexpr std::int64_t kProbesMax = 100;
constexpr std::size_t kListMax = 16;
constexpr std::size_t kRoutesMax = 64;
constexpr std::size_t kArgumentsMax = 256;
constexpr std::size_t kVariablesMax = 64;
constexpr const char* kKeyFix =
    "name the variable that holds the key with \"api_key_env\", or the file with \"api_key_file\"";

bool is_argument(std::string_view text) {
  return !text.empty() && text.find('\0') == std::string_view::npos &&
         base::count_code_points(text) <= kPolicyTextCharsMax;
}

bool is_route(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || !is_url_path(text.substr(space + 1))) return false;
  constexpr std::string_view kMethods[] = {"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"};
  return std::ranges::find(kMethods, text.substr(0, space)) != std::end(kMethods);
}

// What an operating system lets a name be, and no small letters, so that a key is none.
bool is_key_name(std::string_view text) {
  return is_environment_name(text) &&
         std::ranges::none_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

void read_url(const PolicyNode& node, PolicyFields& fields, std::string& out) {
  const PolicyNode url = node.member("url");
  if (!url.present()) return;
  if (url.value->is_string() && is_server_url(url.value->text())) {
    out = url.value->text();
  } else if (url.value->is_string() && url.value->text().find('@') != std::string::npos) {
    // Without what was found: a password may stand before the @.
    fields.findings().error_at_name(PolicyFaultKind::kStructure, url,
                                    "\"url\" must be http:// or https:// with a host",
                                    "without a user's name, ? and #");
  } else {
    fields.error(url, "\"url\" must be http:// or https:// with a host",
                 "such as http://127.0.0.1:9001, without a user's name, ? and #");
  }
}

void read_keys(const PolicyNode& node, PolicyFields& fields, PolicyDevice& out) {
  const PolicyNode key = node.member("api_key");
  if (key.present()) {
    fields.findings().error_at_name(PolicyFaultKind::kStructure, key,
                                    "a key cannot stand in a policy", kKeyFix);
  }
  const PolicyNode variable = node.member("api_key_env");
  if (variable.present()) {
    if (variable.value->is_string() && is_key_name(variable.value->text())) {
      out.api_key_env = variable.value->text();
    } else {
      // Without what was found: it may be the key.
      fields.findings().error_at_name(
          PolicyFaultKind::kStructure, variable,
          "\"api_key_env\" must be the name of an environment variable",
          "capital letters, digits and _, no digit first, such as GPU0_KEY");
    }
  }
  const PolicyNode file = node.member("api_key_file");
  fields.text(node, "api_key_file", kPolicyTextCharsMax, out.api_key_file);
  if (variable.present() && file.present()) {
    fields.findings().error_at_name(PolicyFaultKind::kStructure, file,
                                    "\"api_key_env\" and \"api_key_file\" both stand here",
                                    "keep one");
  }
}

void read_health(const PolicyNode& node, PolicyFields& fields, DeviceProbe& out) {
  if (!fields.section(node)) return;
  fields.unknown(node, {"path", "interval_ms", "timeout_ms", "failures", "successes"}, true);
  const PolicyNode path = node.member("path");
  if (path.present()) {
    if (path.value->is_string() && is_url_path(path.value->text())) {
      out.path = path.value->text();
    } else {
      fields.error(path, "\"path\" must be a path of an URL", "such as /health, without ? and #");
    }
  }
  fields.whole(node, "interval_ms", 100, kHourMs, out.interval_ms);
  fields.whole(node, "timeout_ms", 1, kWaitMsMax, out.timeout_ms);
  fields.whole(node, "failures", 1, kProbesMax, out.failures);
  fields.whole(node, "successes", 1, kProbesMax, out.successes);
}

bool has_port(std::string_view url) {
  const std::size_t host = url.find("//");
  if (host == std::string_view::npos) return false;
  std::string_view rest = url.substr(host + 2);
  rest = rest.substr(0, rest.find('/'));
  const std::size_t colon = rest.find_last_of(":]");
  return colon != std::string_view::npos && rest[colon] == ':' && colon + 1 < rest.size();
}

void read_child(const PolicyNode& node, PolicyFields& fields, PolicyDevice& out) {
  const PolicyNode command = node.member("command");
  if (command.present() && command.value->is_array() && command.value->size() == 0) {
    fields.error(command, "\"command\" must have a program", "write [\"PROGRAM\", \"...\"]");
  }
  fields.texts(node, "command", kArgumentsMax, is_argument, "texts of 1 to 4096 characters",
               out.command);
  fields.texts(node, "env", kVariablesMax, is_environment_name, "names of environment variables",
               out.env);
  fields.text(node, "cwd", kPolicyTextCharsMax, out.cwd);
  fields.whole(node, "ready_ms", 1, kDayMs, out.ready_ms);
  fields.whole(node, "stop_ms", 1, kWaitMsMax, out.stop_ms);
  if (command.present()) {
    if (!node.member("url").present()) {
      fields.findings().error_at_name(PolicyFaultKind::kStructure, command,
                                      "a device with a \"command\" needs a \"url\"",
                                      "write the one that its server listens at");
    } else if (!out.url.empty() && !has_port(out.url)) {
      fields.findings().error(PolicyFaultKind::kMeaning, node.member("url"),
                              "the \"url\" of a device with a \"command\" needs a port",
                              "such as http://127.0.0.1:9001");
    }
    return;
  }
  for (const char* key : {"env", "cwd", "ready_ms", "stop_ms"}) {
    const PolicyNode member = node.member(key);
    if (!member.present()) continue;
    fields.findings().warning_at_name(
        member, "\"" + std::string(key) + "\" is only for a device with a \"command\"",
        "remove it, or add the command");
  }
}

}  // namespace

PolicyDevice read_policy_device(const PolicyNode& node, PolicyFields& fields) {
  PolicyDevice out;
  out.name = node.name;
  // "api_key" is told of by itself.
  fields.unknown(
      node,
      {"url",      "model",       "capabilities",  "context_tokens", "routes",       "connect_ms",
       "write_ms", "total_ms",    "first_byte_ms", "idle_ms",        "requests_max", "queue_max",
       "api_key",  "api_key_env", "api_key_file",  "ca_file",        "health",       "command",
       "env",      "cwd",         "ready_ms",      "stop_ms"},
      true);
  read_url(node, fields, out.url);
  fields.text(node, "model", kPolicyTextCharsMax, out.model);
  fields.texts(node, "capabilities", kListMax, is_policy_name, "names", out.capabilities);
  fields.whole(node, "context_tokens", 0, kTokensMax, out.context_tokens);
  fields.texts(node, "routes", kRoutesMax, is_route, "routes such as \"GET /props\"", out.routes);
  fields.whole(node, "connect_ms", 1, kWaitMsMax, out.connect_ms);
  fields.whole(node, "write_ms", 0, kDayMs, out.write_ms);
  fields.whole(node, "first_byte_ms", 0, kDayMs, out.first_byte_ms);
  fields.whole(node, "idle_ms", 0, kDayMs, out.idle_ms);
  fields.whole(node, "total_ms", 0, kDayMs, out.total_ms);
  fields.whole(node, "requests_max", 0, kQueueMax, out.requests_max);
  fields.whole(node, "queue_max", 0, kQueueMax, out.queue_max);
  if (out.queue_max > 0 && out.requests_max == 0) {
    fields.findings().warning_at_name(node.member("queue_max"),
                                      "nothing waits for a device without \"requests_max\"",
                                      "say how many requests run there at once");
  }
  read_keys(node, fields, out);
  fields.text(node, "ca_file", kPolicyTextCharsMax, out.ca_file);
  read_health(node.member("health"), fields, out.health);
  read_child(node, fields, out);
  return out;
}

}  // namespace layard::gateway
