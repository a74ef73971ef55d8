/// Where checkpoints come from: names, caches and the hub, as plain values. Built once from the
/// environment and then changed by callers; nothing below reads the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/env.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// The hub and the two caches.
struct HubOptions {
  /// Scheme and host of the hub, without a final slash; plain http only for loopback.
  std::string endpoint = "https://huggingface.co";
  /// Sent to the endpoint's host only; empty sends none.
  std::string token;
  /// Folder of the Hugging Face cache (holds models--org--name); empty when unknown.
  std::filesystem::path hub_cache;
  /// Layard's own folder, for stamps of verified files; empty when unknown (nothing is stamped).
  std::filesystem::path layard_cache;
  /// Asked for by the caller: --offline, local_files_only.
  bool local_files_only = false;
  /// Asked for by the environment: HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE.
  bool hub_offline = false;
  /// Certificates to trust instead of the system's; empty for the system's.
  std::filesystem::path ca_file;

  int redirects_max = 5;
  /// Tries in a row that bring nothing new before a download is given up.
  int attempts_max = 4;
  /// Wait before the second try; doubled for each further one, at most 30 s.
  std::int64_t backoff_ms = 500;
  std::int64_t connect_timeout_ms = 15'000;
  /// A transfer slower than 1 byte per second for this long is broken off.
  std::int64_t stall_timeout_s = 30;
  /// Longest wait for another process that downloads the same revision.
  std::int64_t lock_wait_ms = 3'600'000;
  /// Bytes that must stay free on the cache's disk.
  std::uint64_t free_bytes_reserve = std::uint64_t{64} << 20;

  bool offline() const { return local_files_only || hub_offline; }
};

/// What names mean.
struct ResolveOptions {
  /// JSON file of name -> folder; empty for none.
  std::filesystem::path models_file;
  /// Folders that may hold the installed `starter/`, first one wins.
  std::vector<std::filesystem::path> starter_search;
};

struct CheckpointOptions {
  ResolveOptions resolve;
  HubOptions hub;
};

/// Options as the environment has them. Reads LAYARD_CACHE, LAYARD_MODELS, HF_ENDPOINT, HF_TOKEN,
/// HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HF_HUB_OFFLINE,
/// TRANSFORMERS_OFFLINE and HOME; an empty variable counts as unset. (Proxy variables are read by
/// libcurl itself.) Errors: as hub_offline_from_env().
Result<CheckpointOptions> options_from_env(const base::Env& env);

/// $LAYARD_CACHE, else $XDG_CACHE_HOME/layard, else ~/.cache/layard; empty without a home folder.
std::filesystem::path layard_cache_root(const base::Env& env);

/// $HF_HUB_CACHE, else $HUGGINGFACE_HUB_CACHE, else $HF_HOME/hub, else
/// $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.
/// Source: huggingface_hub constants.
std::filesystem::path hub_cache_root(const base::Env& env);

/// HF_HUB_OFFLINE is 1, ON, YES or TRUE; TRANSFORMERS_OFFLINE counts only when it is unset or
/// empty. 0, OFF, NO and FALSE are online. Source: huggingface_hub constants; departs: there any
/// other word means online; here it is refused, as it may have been meant either way.
/// Errors: kInvalidRequest naming the variable.
Result<bool> hub_offline_from_env(const base::Env& env);

}  // namespace layard::checkpoint
