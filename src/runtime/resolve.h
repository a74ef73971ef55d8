/// From a model's name to files on this machine, with what `info` and results say about them.
#pragma once

#include <functional>

#include "checkpoint/hub.h"
#include "checkpoint/resolve.h"
#include "layard/error.h"
#include "layard/model.h"
#include "runtime/loaded_model.h"

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

/// The checkpoint room's options for `environment`.
checkpoint::ResolveOptions resolve_options(const Environment& environment);
checkpoint::HubOptions hub_options(const Environment& environment, bool local_files_only);

/// Finds the model's folder, fetching it when it is registered, not cached, and going online is
/// allowed; its weights' hash is known and checked afterwards.
/// Errors: kUnsupportedModel, kBackendUnavailable, kArtifactRevision, kIo.
Result<ModelIdentity> resolve_model(const ModelOptions& options);

}  // namespace layard::runtime
