#include "base/event_log.h"

namespace layard::base {
namespace {

std::string value_text(const JsonValue& value) { return write_json(value, JsonStyle::kCompact); }

}  // namespace

EventLog::EventLog(LogFormat format, LogLevel least, LogFunction write)
    : format_(format), least_(least), write_(std::move(write)) {}

void EventLog::event(LogLevel level, std::string_view name, const Values& values) const {
  if (!wants(level)) return;
  const bool json = format_ == LogFormat::kJson;
  std::string line = json ? "\"event\":" + quote_json(name) : std::string(name);
  for (const auto& [key, value] : values) {
    line += json ? ",\"" + std::string(key) + "\":" : " " + std::string(key) + "=";
    line += value_text(value);
  }
  write_(log_level_name(level), line);
}

void EventLog::message(std::string_view level, std::string_view text) const {
  if (write_ == nullptr) return;
  if (format_ == LogFormat::kText) {
    write_(level, text);
    return;
  }
  write_(level, "\"event\":\"message\",\"message\":" + quote_json(text));
}

}  // namespace layard::base
