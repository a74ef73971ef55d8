#include "checkpoint/hub.h"

#include "checkpoint/verified_file.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

Error offline_error(const ModelSpec& spec, const HubAccess& access) {
  return {ErrorCode::kBackendUnavailable,
          "cannot resolve " + short_pin(spec) + " offline: it is not in the cache '" +
              access.options.hub_cache.string() + "'. Run once online, or `layard download " +
              spec.name + "` where there is a network."};
}

}  // namespace

std::string short_pin(const ModelSpec& spec) {
  return spec.repo + "@" + spec.revision.substr(0, 12);
}

HubPaths HubPaths::of(const fs::path& root, const ModelSpec& spec) {
  std::string folder = "models--" + spec.repo;
  folder.replace(folder.find('/'), 1, "--");
  HubPaths paths;
  paths.repo = root / folder;
  paths.blobs = paths.repo / "blobs";
  paths.snapshot = paths.repo / "snapshots" / spec.revision;
  paths.staging = paths.repo / "layard-staging" / spec.revision;
  return paths;
}

Result<std::optional<fs::path>> find_cached(const ModelSpec& spec, const HubAccess& access) {
  LAYARD_TRY(check_spec(spec));
  const std::optional<fs::path> missing;
  if (access.options.hub_cache.empty()) return missing;
  const fs::path snapshot = HubPaths::of(access.options.hub_cache, spec).snapshot;
  for (const RemoteFile& file : spec.files) {
    LAYARD_ASSIGN(const auto info, access.files->stat(snapshot / file.path));
    const bool fits = info && info->kind == base::FileKind::kFile &&
                      info->size_bytes <= file.bytes_max && info->size_bytes > 0;
    if (!fits) return missing;
  }
  const StampStore stamps{*access.files, access.options.layard_cache, *access.log};
  for (const RemoteFile& file : spec.files) {
    if (file.sha256.empty()) continue;
    LAYARD_TRY(verify_sha256(stamps, snapshot / file.path, file.sha256, access.stop));
  }
  return std::optional(snapshot);
}

Result<fs::path> obtain_checkpoint(const ModelSource& source, const HubAccess& access) {
  if (!source.folder.empty()) {
    if (!source.sha256.empty()) {
      const StampStore stamps{*access.files, access.options.layard_cache, *access.log};
      LAYARD_TRY(
          verify_sha256(stamps, source.folder / "model.safetensors", source.sha256, access.stop));
    }
    return source.folder;
  }
  if (source.spec == nullptr) {
    return Error{ErrorCode::kUnsupportedModel,
                 "model '" + source.name + "' has no place to come from"};
  }
  const auto cached = find_cached(*source.spec, access);
  if (!cached.ok() && cached.error().code == ErrorCode::kArtifactRevision) {
    return Error{cached.error().code, cached.error().message +
                                          "; fetch it again with `layard download " +
                                          source.spec->name + "`"};
  }
  if (!cached.ok()) return cached.error();
  if (*cached) return **cached;
  if (access.options.offline()) return offline_error(*source.spec, access);
  access.log->write(base::LogLevel::kInfo, "downloading " + short_pin(*source.spec) + " into '" +
                                               access.options.hub_cache.string() + "'");
  return download_checkpoint(*source.spec, access);
}

}  // namespace layard::checkpoint
