// `layard download` and paths of models that are on this machine.
#include "checkpoint/hub.h"

#include "base/filesystem.h"
#include "checkpoint/checkpoint_folder.h"
#include "layard/model.h"
#include "runtime/resolve.h"

namespace layard {

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
  LAYARD_ASSIGN(const std::filesystem::path path, checkpoint::obtain_checkpoint(source, access));
  return DownloadReport{source.spec->repo, source.spec->revision, path.string(), fetched};
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
