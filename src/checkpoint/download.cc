#include <algorithm>
#include <memory>
#include <set>

#include "base/sha256.h"
#include "checkpoint/file_download.h"
#include "checkpoint/hub.h"
#include "checkpoint/hub_url.h"
#include "checkpoint/remote_json.h"
#include "checkpoint/verified_file.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLockPollMs = 100;

// One download of one revision. The files are fetched into blobs, linked in a staging folder as
// deep as the snapshot will be (so the relative links hold in both), and the staging folder becomes
// the snapshot by one rename.
class Download {
 public:
  Download(const ModelSpec& spec, const HubAccess& access)
      : spec_(spec),
        access_(access),
        files_(*access.files),
        paths_(HubPaths::of(access.options.hub_cache, spec)),
        stamps_{*access.files, access.options.layard_cache, *access.log} {}

  Result<fs::path> run() {
    LAYARD_TRY(files_.make_folders(paths_.blobs));
    LAYARD_ASSIGN(const auto lock, wait_for_lock());
    const auto ready = find_cached(spec_, access_);
    if (ready.ok() && *ready && !access_.refetch_unpinned) return **ready;
    if (!ready.ok() && ready.error().code != ErrorCode::kArtifactRevision) return ready.error();
    LAYARD_TRY(check_room());
    LAYARD_TRY(claim_origin());
    for (const RemoteFile& file : spec_.files) LAYARD_TRY(stage(file));
    LAYARD_TRY(publish());
    (void)files_.remove(origin_path());  // nothing staged is left that it could speak of
    return paths_.snapshot;
  }

 private:
  Result<std::unique_ptr<base::FileLock>> wait_for_lock() {
    const fs::path path = paths_.blobs / ("layard-" + spec_.revision.substr(0, 12) + ".lock");
    const double give_up_ms =
        access_.clock->now_ms() + static_cast<double>(access_.options.lock_wait_ms);
    for (bool said = false;;) {
      LAYARD_ASSIGN(auto lock, files_.try_lock(path));
      if (lock != nullptr) return lock;
      if (!said) {
        access_.log->write(base::LogLevel::kInfo,
                           "waiting for another download of " + short_pin(spec_));
        said = true;
      }
      if (access_.clock->now_ms() >= give_up_ms) {
        return Error{ErrorCode::kBackendUnavailable,
                     "another process holds '" + path.string() + "' and does not finish"};
      }
      if (!access_.clock->sleep_ms(kLockPollMs, access_.stop)) {
        return Error{ErrorCode::kCancelled, "the download was cancelled"};
      }
    }
  }

  fs::path origin_path() const {
    return paths_.blobs / ("layard-" + spec_.revision.substr(0, 12) + ".origin");
  }

  // What an earlier attempt got from another server is kept only where a hash vouches for it: a
  // mirror that answers nonsense must not end up in a checkpoint that a good one completes.
  Status claim_origin() {
    const std::string origin = base::sha256_hex(access_.options.endpoint);
    const auto known = files_.read_text(origin_path(), origin.size());
    if (known.ok() && *known == origin && !access_.refetch_unpinned) return {};
    for (const RemoteFile& file : spec_.files) {
      if (!file.sha256.empty()) continue;
      LAYARD_TRY(files_.remove(paths_.staging / file.path));
      FileDownload(spec_, file, access_, paths_.blobs).discard();
    }
    return base::write_atomically(files_, origin_path(), origin);
  }

  // Refuses before the first byte what could not be finished.
  Status check_room() {
    std::uint64_t needed = access_.options.free_bytes_reserve;
    for (const RemoteFile& file : spec_.files) {
      if (!file.bytes || is_there(file)) continue;
      LAYARD_ASSIGN(const std::uint64_t kept,
                    FileDownload(spec_, file, access_, paths_.blobs).bytes_kept());
      needed += *file.bytes - std::min(*file.bytes, kept);
    }
    LAYARD_ASSIGN(const std::uint64_t free, files_.free_bytes(paths_.blobs));
    if (free >= needed) return {};
    return Error{ErrorCode::kIo, "not enough room in '" + paths_.blobs.string() +
                                     "': " + std::to_string(needed) + " bytes are needed, " +
                                     std::to_string(free) +
                                     " are free; make room or set HF_HUB_CACHE"};
  }

  // Whether `folder` has a complete, right version of `file`.
  bool is_usable(const fs::path& folder, const RemoteFile& file) {
    const auto info = files_.stat(folder / file.path);
    if (!info.ok() || !*info || (*info)->kind != base::FileKind::kFile) return false;
    if ((*info)->size_bytes == 0 || (*info)->size_bytes > file.bytes_max) return false;
    if (file.bytes && (*info)->size_bytes != *file.bytes) return false;
    if (file.sha256.empty()) {
      const auto text = files_.read_text(folder / file.path, file.bytes_max);
      return text.ok() && check_remote_json(file.path, *text, spec_.name).ok();
    }
    return verify_sha256(stamps_, folder / file.path, file.sha256, access_.stop).ok();
  }

  bool is_there(const RemoteFile& file) {
    const bool snapshot_counts = !access_.refetch_unpinned || !file.sha256.empty();
    return (snapshot_counts && is_usable(paths_.snapshot, file)) || is_usable(paths_.staging, file);
  }

  // Makes sure that the snapshot or the staging folder has `file`.
  Status stage(const RemoteFile& file) {
    if (is_there(file)) return {};
    std::string sha256 = file.sha256;
    // Another revision may have brought the same content already.
    const bool have_blob = !sha256.empty() && files_.stat(paths_.blobs / sha256).ok() &&
                           verify_sha256(stamps_, paths_.blobs / sha256, sha256, access_.stop).ok();
    if (!have_blob) {
      FileDownload download(spec_, file, access_, paths_.blobs);
      LAYARD_ASSIGN(sha256, download.run());
      if (!file.sha256.empty()) write_stamp(stamps_, paths_.blobs / sha256, sha256);
    }
    const fs::path link = paths_.staging / file.path;
    LAYARD_TRY(files_.make_folders(link.parent_path()));
    LAYARD_TRY(files_.remove(link));
    return files_.make_link(blob_target(file, sha256), link);
  }

  // From the file's folder in a snapshot up to the repository and down to the blob.
  static fs::path blob_target(const RemoteFile& file, const std::string& sha256) {
    fs::path target = fs::path("..") / "..";
    for (const char c : file.path) {
      if (c == '/') target /= "..";
    }
    return target / "blobs" / sha256;
  }

  Status publish() {
    LAYARD_TRY(files_.sync_folder(paths_.blobs));
    LAYARD_ASSIGN(const auto existing, files_.stat(paths_.snapshot));
    if (existing) return complete_existing();
    LAYARD_TRY(sync_staging());
    const fs::path snapshots = paths_.snapshot.parent_path();
    LAYARD_TRY(files_.make_folders(snapshots));
    LAYARD_TRY(files_.rename(paths_.staging, paths_.snapshot));
    LAYARD_TRY(files_.sync_folder(snapshots));
    (void)files_.remove(paths_.staging.parent_path());  // empty by now, or another revision's
    return {};
  }

  Status sync_staging() {
    for (const std::string& folder : folders()) {
      LAYARD_TRY(files_.sync_folder(paths_.staging / folder));
    }
    return {};
  }

  // A snapshot that another program began, or whose weights were damaged: each missing link is put
  // in by a rename, so that at no time a file is there in part.
  Status complete_existing() {
    for (const RemoteFile& file : spec_.files) {
      LAYARD_ASSIGN(const auto staged, files_.link_stat(paths_.staging / file.path));
      if (!staged) continue;
      const fs::path target = paths_.snapshot / file.path;
      LAYARD_TRY(files_.make_folders(target.parent_path()));
      LAYARD_TRY(files_.rename(paths_.staging / file.path, target));
    }
    for (const std::string& folder : folders()) (void)files_.remove(paths_.staging / folder);
    (void)files_.remove(paths_.staging.parent_path());
    return files_.sync_folder(paths_.snapshot);
  }

  // Folders of the layout that exist in staging, deepest first, the top ("") last.
  std::vector<std::string> folders() {
    std::set<std::string, std::greater<>> names{""};
    for (const RemoteFile& file : spec_.files) {
      for (fs::path folder = fs::path(file.path).parent_path(); !folder.empty();
           folder = folder.parent_path()) {
        const auto info = files_.stat(paths_.staging / folder);
        if (info.ok() && *info) names.insert(folder.string());
      }
    }
    return {names.begin(), names.end()};
  }

  const ModelSpec& spec_;
  const HubAccess& access_;
  base::Filesystem& files_;
  HubPaths paths_;
  StampStore stamps_;
};

}  // namespace

Result<fs::path> download_checkpoint(const ModelSpec& spec, const HubAccess& access) {
  LAYARD_TRY(check_spec(spec));
  const std::string start = "cannot download " + short_pin(spec) + ": ";
  if (access.options.hub_cache.empty()) {
    return Error{ErrorCode::kIo, start + "no cache folder is known; set HF_HUB_CACHE or HOME"};
  }
  const auto cached = find_cached(spec, access);
  if (cached.ok() && *cached && !access.refetch_unpinned) return **cached;
  if (access.options.offline()) {
    if (!cached.ok()) return cached.error();
    return Error{ErrorCode::kBackendUnavailable,
                 start + "offline, and it is not in the cache '" +
                     access.options.hub_cache.string() +
                     "'; allow the network (no --offline; HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE "
                     "unset), or copy it into the cache from a machine that has it"};
  }
  const auto endpoint = parse_url(access.options.endpoint);
  const Status usable = endpoint.ok() ? check_url(*endpoint) : Status(endpoint.error());
  if (!usable.ok()) {
    return Error{usable.error().code,
                 start + "the hub's address (HF_ENDPOINT): " + usable.error().message};
  }
  auto result = Download(spec, access).run();
  if (!result.ok()) {
    Error error = std::move(result).error();
    error.message = start + error.message;
    return error;
  }
  return result;
}

}  // namespace layard::checkpoint
