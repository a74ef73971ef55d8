// `layard download` and paths of models that are on this machine.
#include "checkpoint/hub.h"

#include "base/filesystem.h"
#include "checkpoint/checkpoint_folder.h"
#include "layard/model.h"
#include "layard/router.h"
#include "runtime/loaded_model.h"
#include "runtime/resolve.h"

namespace layard {
namespace {

// The snapshot, held to what the loader needs: no hash pins its small files, so that a mirror may
// have sent anything for them. What the loader refuses is fetched once more.
Result<std::filesystem::path> download_loadable(const checkpoint::ModelSpec& spec,
                                                checkpoint::HubAccess access) {
  LAYARD_ASSIGN(std::filesystem::path path, checkpoint::download_checkpoint(spec, access));
  Status loads = runtime::LoadedModel::check(path.string());
  if (!loads.ok() && !access.options.offline()) {
    access.refetch_unpinned = true;
    LAYARD_ASSIGN(path, checkpoint::download_checkpoint(spec, access));
    loads = runtime::LoadedModel::check(path.string());
  }
  if (loads.ok()) return path;
  Error error = loads.error();
  error.message =
      checkpoint::short_pin(spec) + " cannot be used: " + error.message +
      (access.options.offline()
           ? "; its files but the weights are fetched again where the network is allowed"
           : "; '" + access.options.endpoint +
                 "' (HF_ENDPOINT) sent the same again, so try another server");
  return error;
}

}  // namespace

Result<DownloadReport> download_model(
    const Environment& environment, bool local_files_only, std::string_view model,
    const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress) {
  LAYARD_ASSIGN(const checkpoint::ModelSource source,
                checkpoint::resolve_model(model, runtime::resolve_options(environment)));
  if (source.spec == nullptr) {
    return Error{ErrorCode::kInvalidRequest,
                 "'" + source.name + "' is a folder on this machine; there is nothing to download"};
  }
  checkpoint::HubAccess access;
  access.options = runtime::hub_options(environment, local_files_only);
  bool fetched = false;
  access.progress = [&](const checkpoint::DownloadProgress& step) {
    fetched = true;
    if (progress) progress(step.file, step.bytes_done, step.bytes_total);
  };
  LAYARD_ASSIGN(const std::filesystem::path path, download_loadable(*source.spec, access));
  return DownloadReport{source.spec->repo, source.spec->revision, path.string(), fetched};
}

Result<std::vector<std::string>> model_names(const Environment& environment) {
  return checkpoint::model_names(runtime::resolve_options(environment));
}

Result<bool> is_same_model(const Environment& environment, std::string_view asked,
                           std::string_view opened) {
  if (asked == opened) return true;
  if (is_auto_model(asked) || is_auto_model(opened)) {
    return is_auto_model(asked) && is_auto_model(opened);
  }
  const auto options = runtime::resolve_options(environment);
  LAYARD_ASSIGN(const checkpoint::ModelSource one, checkpoint::resolve_model(asked, options));
  LAYARD_ASSIGN(const checkpoint::ModelSource other, checkpoint::resolve_model(opened, options));
  if (one.name == other.name) return true;
  std::error_code ignored;  // two spellings of a folder; one that is missing is no other's
  return !one.folder.empty() && !other.folder.empty() &&
         std::filesystem::equivalent(one.folder, other.folder, ignored);
}

Result<std::string> tokenizer_path(const Environment& environment, bool local_files_only,
                                   std::string_view model) {
  ModelOptions options;
  options.model = std::string(model);
  options.environment = environment;
  options.local_files_only = local_files_only;
  LAYARD_ASSIGN(const runtime::ModelIdentity identity, runtime::resolve_model(options));
  return checkpoint::CheckpointFiles::in(identity.folder).tokenizer.string();
}

}  // namespace layard
