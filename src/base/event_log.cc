#include "server/serve_log.h"

namespace layard::server {
namespace {

using base::JsonValue;

std::string value_text(const JsonValue& value) {
  return base::write_json(value, base::JsonStyle::kCompact);
}

}  // namespace

ServeLog::ServeLog(LogFormat format, base::LogLevel least, LogFunction write)
    : format_(format), least_(least), write_(std::move(write)) {}

void ServeLog::event(base::LogLevel level, std::string_view name, const Values& values) const {
  if (!wants(level)) return;
  const bool json = format_ == LogFormat::kJson;
  std::string line = json ? "\"event\":" + base::quote_json(name) : std::string(name);
  for (const auto& [key, value] : values) {
    line += json ? ",\"" + std::string(key) + "\":" : " " + std::string(key) + "=";
    line += value_text(value);
  }
  write_(base::log_level_name(level), line);
}

void ServeLog::message(std::string_view level, std::string_view text) const {
  if (write_ == nullptr) return;
  if (format_ == LogFormat::kText) {
    write_(level, text);
    return;
  }
  write_(level, "\"event\":\"message\",\"message\":" + base::quote_json(text));
}

}  // namespace layard::server
