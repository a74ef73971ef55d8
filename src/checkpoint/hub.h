/// From a model's source to a folder on disk: the Hugging Face cache, and the hub behind it.
///
/// Invariants: weights of a pinned model are never used before their hash was checked; a snapshot
/// folder only ever holds links to complete, checked files; offline, the network is not touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/filesystem.h"
#include "base/log.h"
#include "checkpoint/options.h"
#include "checkpoint/registry.h"
#include "checkpoint/resolve.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// One step of a download; views are valid during the call.
struct DownloadProgress {
  std::string_view model;
  std::string_view file;
  std::uint64_t bytes_done = 0;
  /// 0 while unknown.
  std::uint64_t bytes_total = 0;
};

/// What looking up and downloading need. Plain pointers are never null and outlive the call.
struct HubAccess {
  HubOptions options;
  base::Filesystem* files = &base::real_filesystem();
  base::Clock* clock = &base::real_clock();
  base::LogSink* log = &base::discarding_log();
  /// Ends waiting, hashing and transfers with kCancelled; what has arrived is kept for resuming.
  std::stop_token stop;
  /// download_checkpoint() fetches the files that no hash pins again, whatever the cache has: for a
  /// snapshot that the loader refuses.
  bool refetch_unpinned = false;
  /// Called on the downloading thread, at most once per piece received.
  std::function<void(const DownloadProgress&)> progress;
};

/// Folders of one repository in the Hugging Face cache `root`.
struct HubPaths {
  std::filesystem::path repo;      // models--org--name
  std::filesystem::path blobs;     // content, by SHA-256
  std::filesystem::path snapshot;  // snapshots/<revision>
  std::filesystem::path staging;   // a snapshot being put together; as deep as `snapshot`

  static HubPaths of(const std::filesystem::path& root, const ModelSpec& spec);
};

/// The snapshot of `spec` if every file is in the cache within its limits and the weights have
/// their hash; nothing when a file is missing. Touches no network.
/// Errors: kArtifactRevision (the weights' hash differs), kIo, kCancelled.
Result<std::optional<std::filesystem::path>> find_cached(const ModelSpec& spec,
                                                         const HubAccess& access);

/// The folder a model is loaded from: a given folder (its hash checked where one was stated), or
/// the cached snapshot, or, unless offline, a fresh download.
/// Errors: kBackendUnavailable (offline and not cached, network; names `layard download`),
/// and those of find_cached() and download_checkpoint().
Result<std::filesystem::path> obtain_checkpoint(const ModelSource& source, const HubAccess& access);

/// Makes sure the cache has `spec`, fetching what is missing or damaged; returns the snapshot.
/// Two callers, also of two processes, fetch once: the second waits for the first. Files without a
/// pinned hash that an earlier attempt got from another endpoint are not taken over.
/// Errors: kBackendUnavailable (offline, network, server), kArtifactRevision (other content than
/// pinned), kArtifactIntegrity (a file over its limit, or not what its name says), kIo (disk),
/// kInvalidRequest (endpoint or token), kCancelled. After any of them the cache holds what it held
/// before, plus pieces for resuming.
Result<std::filesystem::path> download_checkpoint(const ModelSpec& spec, const HubAccess& access);

/// `org/name@<12 hex digits>`.
std::string short_pin(const ModelSpec& spec);

}  // namespace layard::checkpoint
