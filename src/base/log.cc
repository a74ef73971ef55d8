#include "base/log.h"

namespace layard::base {
namespace {

class DiscardingLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

}  // namespace

std::string_view log_level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

LogSink& discarding_log() {
  static DiscardingLog sink;  // has no state, so sharing it is safe
  return sink;
}

}  // namespace layard::base
