/// The library's log sink over the function that a caller gave.
#pragma once

#include <string_view>
#include <utility>

#include "base/log.h"
#include "layard/model.h"

namespace layard::runtime {

/// A LogSink over a caller's function; drops everything when there is none.
class FunctionLog final : public base::LogSink {
 public:
  explicit FunctionLog(LogFunction function) : function_(std::move(function)) {}
  void write(base::LogLevel level, std::string_view message) override {
    if (function_) function_(base::log_level_name(level), message);
  }

 private:
  LogFunction function_;
};

}  // namespace layard::runtime
