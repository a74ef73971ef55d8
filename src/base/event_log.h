/// Log lines of a server: events with named values. Texts, keys and other things that clients wrote
/// are never among the values. Who writes the lines adds time and level.
/// Source: none; ours.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/log.h"

namespace layard::base {

/// Takes a level's name and a line. As layard::LogFunction.
using LogFunction = std::function<void(std::string_view level, std::string_view line)>;

enum class LogFormat : std::uint8_t { kText, kJson };

/// Thread-safety: any number of callers, if `write` takes them.
class EventLog {
 public:
  using Values = std::vector<std::pair<const char*, JsonValue>>;

  /// `write` gets a level and a line. Events below `least` are dropped.
  EventLog(LogFormat format, LogLevel least, LogFunction write);

  bool wants(LogLevel level) const { return write_ != nullptr && level >= least_; }
  /// Text: `name key=value ...`. JSON: the members of an object, `"event":name,key:value,...`.
  void event(LogLevel level, std::string_view name, const Values& values) const;
  /// A line of another room: as it is, or `"event":"message","message":text`.
  void message(std::string_view level, std::string_view text) const;

 private:
  LogFormat format_;
  LogLevel least_;
  LogFunction write_;
};

}  // namespace layard::base
