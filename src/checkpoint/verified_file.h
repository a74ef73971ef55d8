/// Files held to a SHA-256, with a stamp so that an unchanged file is hashed once.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "base/log.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// Where stamps are kept and who hears that one could not be.
struct StampStore {
  base::Filesystem& files;
  /// Layard's cache; empty keeps no stamps.
  std::filesystem::path cache;
  base::LogSink& log;

  /// The stamp of a file, by its path without links.
  std::filesystem::path stamp_path(const std::filesystem::path& resolved) const;
};

/// Checks that `file` has the hash `expected`. The hash is not computed again while path, size,
/// time of change, inode and owner are those of the stamp. A stamp that cannot be read or written
/// costs time, not success. Errors: kArtifactRevision naming file, found and expected hash; kIo;
/// kCancelled. Source: laya-apple 1.6.2 weights check (the stamp's three fields).
Status verify_sha256(const StampStore& store, const std::filesystem::path& file,
                     std::string_view expected, const std::stop_token& stop);

/// The file's SHA-256, taken from its stamp while that is true, else computed and stamped.
/// Errors: kIo; kCancelled.
Result<std::string> file_sha256(const StampStore& store, const std::filesystem::path& file,
                                const std::stop_token& stop);

/// Records that `file` was just found to have `sha256`.
void write_stamp(const StampStore& store, const std::filesystem::path& file,
                 std::string_view sha256);

/// A check that a file has passed: what was checked (letters and digits) and its result.
struct Mark {
  std::string_view name;
  std::string_view value;
};

/// Whether `file` is unchanged (as verify_sha256 decides) since set_mark() was told the same.
bool has_mark(const StampStore& store, const std::filesystem::path& file, const Mark& mark);

/// Remembers that `file`, as it is now, has passed a check. Failing to costs time later, not
/// success.
void set_mark(const StampStore& store, const std::filesystem::path& file, const Mark& mark);

}  // namespace layard::checkpoint
