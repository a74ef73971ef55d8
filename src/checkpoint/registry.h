/// The published checkpoints this build knows, each pinned to one revision and one weights file.
/// Thread-safety: constant after the first call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::checkpoint {

/// One file of a checkpoint on the hub. What arrives is held to what is stated here.
struct RemoteFile {
  std::string path;                    // relative, `/` between parts
  std::uint64_t bytes_max = 0;         // more is refused while it arrives
  std::optional<std::uint64_t> bytes;  // exact size, where pinned
  std::string sha256;                  // 64 hex digits, where pinned
};

/// Source: laya-apple 1.6.2 registry (pins, buckets), laya 0.4.15 router (aliases); sizes are the
/// published files'.
struct ModelSpec {
  std::string name;
  std::string repo;      // `org/name`
  std::string revision;  // 40 hex digits
  std::string encoder;   // label of the encoder family and size
  std::int64_t max_len = 0;
  std::vector<std::string> aliases;
  /// Element types the weights may be computed in on a device that offers a choice.
  std::vector<std::string> dtypes;
  /// Fixed lengths an npu artifact can be built for, and those that `auto` may use by default.
  std::vector<std::int64_t> npu_buckets;
  std::vector<std::int64_t> auto_npu_buckets;
  std::int64_t auto_npu_questions_max = 1;
  /// Everything the loader reads; model.safetensors is the last.
  std::vector<RemoteFile> files;

  /// model.safetensors. REQUIRES: check_spec() passed.
  const RemoteFile& weights() const { return files.back(); }
};

/// The pinned models, in the order they are listed to users.
std::span<const ModelSpec> registry();

/// By short name or alias (surrounding blanks and case ignored) or by full repository id (exact).
/// Null when unknown.
const ModelSpec* find_spec(std::string_view name);

/// The five files of the published layout with their limits; `weights_bytes` and `weights_sha256`
/// pin model.safetensors where known.
std::vector<RemoteFile> published_files(std::optional<std::uint64_t> weights_bytes,
                                        std::string weights_sha256);

/// Whether a spec can be turned into paths and URLs without surprises: repo is `org/name`, revision
/// 40 hex digits, file paths plain and relative, hashes 64 hex digits, weights last.
/// Errors: kUnsupportedModel naming the field.
Status check_spec(const ModelSpec& spec);

/// `laya (convaiinnovations/laya), ...`: the names a user can choose from, starter included.
std::string known_names();

/// Text without surrounding blanks, ASCII letters in lower case.
std::string normalized_name(std::string_view text);

}  // namespace layard::checkpoint
