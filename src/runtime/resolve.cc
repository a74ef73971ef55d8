#include "runtime/resolve.h"

#include "base/filesystem.h"
#include "base/sha256.h"
#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/verified_file.h"
#include "runtime/function_log.h"

namespace layard::runtime {

checkpoint::ResolveOptions resolve_options(const Environment& environment) {
  checkpoint::ResolveOptions options;
  options.models_file = environment.models_file;
  for (const std::string& dir : environment.data_dirs) options.starter_search.emplace_back(dir);
  return options;
}

checkpoint::HubOptions hub_options(const Environment& environment, bool local_files_only) {
  checkpoint::HubOptions options;
  options.endpoint = environment.hub_endpoint;
  options.token = environment.hub_token;
  options.hub_cache = environment.hub_cache_dir;
  options.layard_cache = environment.cache_dir;
  options.local_files_only = local_files_only;
  options.hub_offline = environment.hub_offline;
  return options;
}

namespace {

// The weights' hash: pinned, stated, or computed (an unchanged file is hashed once).
Result<std::string> weights_sha256(const checkpoint::ModelSource& source, const std::string& folder,
                                   const checkpoint::HubAccess& access) {
  if (source.spec != nullptr && !source.spec->weights().sha256.empty()) {
    return source.spec->weights().sha256;
  }
  if (!source.sha256.empty()) return source.sha256;
  const checkpoint::StampStore store{*access.files, access.options.layard_cache, *access.log};
  return checkpoint::file_sha256(store, std::filesystem::path(folder) / "model.safetensors",
                                 access.stop);
}

// Where the files are, with all that is known of them before the weights are hashed.
Result<std::filesystem::path> find_files(const checkpoint::ModelSource& source,
                                         const checkpoint::HubAccess& access) {
  LAYARD_ASSIGN(const std::filesystem::path folder, checkpoint::obtain_checkpoint(source, access));
  // Hashing takes seconds: an incomplete folder is told first.
  LAYARD_TRY(checkpoint::CheckpointFiles::in(folder).check_present());
  return folder;
}

}  // namespace

Error at_entry(const std::string& models_file_entry, Error error) {
  if (models_file_entry.empty()) return error;
  error.message = models_file_entry + ": " + error.message;
  return error;
}

bool is_remapped(const ModelOptions& options) {
  const auto source =
      checkpoint::resolve_model(options.model, resolve_options(options.environment));
  return source.ok() && source->mapped_away_from_pin;
}

Result<ModelIdentity> resolve_model(const ModelOptions& options) {
  LAYARD_ASSIGN(const checkpoint::ModelSource source,
                checkpoint::resolve_model(options.model, resolve_options(options.environment)));
  FunctionLog log(options.log);
  checkpoint::HubAccess access;
  access.options = hub_options(options.environment, options.local_files_only);
  access.log = &log;
  ModelIdentity identity;
  identity.name = source.name;
  if (source.kind == checkpoint::SourceKind::kModelsFile) {
    identity.models_file_entry =
        "models file '" + options.environment.models_file + "': '" + source.name + "'";
  }
  const auto folder = find_files(source, access);
  if (!folder.ok()) return at_entry(identity.models_file_entry, folder.error());
  identity.folder = folder->string();
  identity.remapped = source.mapped_away_from_pin;
  identity.pinned = source.spec != nullptr && !source.mapped_away_from_pin;
  identity.from_hub = source.spec != nullptr;
  const auto sha256 = weights_sha256(source, identity.folder, access);
  if (!sha256.ok()) return at_entry(identity.models_file_entry, sha256.error());
  identity.weights_sha256 = *sha256;
  identity.revision = source.spec != nullptr ? source.spec->revision
                                             : "sha256:" + identity.weights_sha256.substr(0, 12);
  return identity;
}

}  // namespace layard::runtime
