/// Where the library says what a person may want to know: an injected sink, never a stream.
#pragma once

#include <cstdint>
#include <string_view>

namespace layard::base {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// `debug`, `info`, `warning`, `error`.
std::string_view log_level_name(LogLevel level);

/// Receives finished messages without a final newline; secrets and users' texts are never in them.
/// Thread-safety: implementations take calls from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
};

/// The default: a sink that drops everything.
LogSink& discarding_log();

}  // namespace layard::base
