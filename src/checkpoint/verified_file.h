/// Files held to a SHA-256, with a stamp so that an unchanged file is hashed once.
///
/// Stamps lie in `stamps` below Layard's cache, 0600 in a folder 0700 of this user: nobody else can
/// vouch for a file. Any other stamp is ignored, and the file is checked again. A file is unchanged
/// while path, size, times of change (of the content and of anything), inode and owner are those of
/// the stamp; the second time is the system's own, so that putting the first back hides nothing.
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
  /// The stamp of a mark (below) called `name`. Its own time of change is when it was set, or
  /// whatever base::mark_used() made of it.
  std::filesystem::path mark_path(const std::filesystem::path& resolved,
                                  std::string_view name) const;
};

/// Checks that `file` has the hash `expected`, which is computed only where no stamp says so. A
/// stamp that cannot be read or written costs time, not success. Errors: kArtifactRevision naming
/// file, found and expected hash; kIo; kCancelled. Source: laya-apple 1.6.2 weights check (path,
/// size and time of the content's change); departs: the other three.
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
