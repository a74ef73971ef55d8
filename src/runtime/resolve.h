/// From a model's name to files on this machine, with what `info` and results say about them.
#pragma once

#include "checkpoint/hub.h"
#include "checkpoint/resolve.h"
#include "layard/error.h"
#include "layard/model.h"
#include "runtime/loaded_model.h"

namespace layard::runtime {

/// The checkpoint room's options for `environment`.
checkpoint::ResolveOptions resolve_options(const Environment& environment);
checkpoint::HubOptions hub_options(const Environment& environment, bool local_files_only);

/// Finds the model's folder, fetching it when it is registered, not cached, and going online is
/// allowed; its weights' hash is known and checked afterwards.
/// Errors: kUnsupportedModel, kBackendUnavailable, kArtifactRevision, kIo; about what a models file
/// names they begin with that file and its entry.
Result<ModelIdentity> resolve_model(const ModelOptions& options);

/// `error` about the model of that ModelIdentity::models_file_entry, which may be empty.
Error at_entry(const std::string& models_file_entry, Error error);

/// Whether a models file leads the name elsewhere than to what it stands for. Touches no network;
/// false for a name that stands for nothing.
bool is_remapped(const ModelOptions& options);

}  // namespace layard::runtime
