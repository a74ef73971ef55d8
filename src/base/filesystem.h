/// Files and folders that are changed, behind an interface: what is written, in which order, and
/// what happens when any step fails can be tested.
///
/// Invariants: a rename is atomic; commit points are renames after a sync; nothing follows a link
/// out of what it was asked for except stat(), read_text() and open_append() (the plain file names
/// of links).
/// Thread-safety: any number of callers; a FileWriter or FileLock belongs to one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::base {

enum class FileKind : std::uint8_t { kFile, kFolder, kLink, kOther };

struct FileInfo {
  FileKind kind = FileKind::kFile;
  std::uint64_t size_bytes = 0;
  /// Last change of the content, and of anything about the file, nanoseconds since 1970. Programs
  /// can set the first to what they like; the second is the system's own.
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint32_t owner = 0;  ///< user id
  std::uint32_t mode = 0;   ///< permission bits, 0 to 07777
};

/// A file being written. Closing without close() loses errors, so writers that matter call it.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  /// Errors: kIo, naming the file; a full disk says so.
  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Puts the content on the disk. Errors: kIo.
  virtual Status sync() = 0;
  virtual Status close() = 0;
};

/// An exclusive lock between processes; released by destruction, also by the process's end.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Filesystem {
 public:
  virtual ~Filesystem() = default;

  /// What `path` leads to, or nothing when it does not exist (a dangling link included).
  virtual Result<std::optional<FileInfo>> stat(const std::filesystem::path& path) = 0;
  /// The same without following a link at `path` itself.
  virtual Result<std::optional<FileInfo>> link_stat(const std::filesystem::path& path) = 0;
  /// `path` with all links resolved. Errors: kIo when it does not exist.
  virtual Result<std::filesystem::path> canonical(const std::filesystem::path& path) = 0;
  /// A file's text. Errors: kIo, also when it has more than `bytes_max` bytes.
  virtual Result<std::string> read_text(const std::filesystem::path& path,
                                        std::uint64_t bytes_max) = 0;
  /// The same, of a file that is this user's alone (0600, no link) in a folder that is (0700):
  /// nobody else can have put the text there. Errors: kIo, also for any other file.
  virtual Result<std::string> read_private_text(const std::filesystem::path& path,
                                                std::uint64_t bytes_max) = 0;
  /// Names in a folder, sorted; at most 100,000, else kIo.
  virtual Result<std::vector<std::string>> list(const std::filesystem::path& folder) = 0;

  /// A new or emptied file.
  virtual Result<std::unique_ptr<FileWriter>> create(const std::filesystem::path& path) = 0;
  /// A new file, open to this user alone (0600), in the place of whatever file was there.
  virtual Result<std::unique_ptr<FileWriter>> create_private(const std::filesystem::path& path) = 0;
  /// A file written on at its end, made when absent.
  virtual Result<std::unique_ptr<FileWriter>> open_append(const std::filesystem::path& path) = 0;
  virtual Status make_folders(const std::filesystem::path& folder) = 0;
  /// Makes `folder` with access for its user alone (0700), and what is above it as make_folders()
  /// does, where it does not exist. Errors: kIo; kIo also when a folder there belongs to another
  /// user or is open to others.
  virtual Status make_private_folder(const std::filesystem::path& folder) = 0;
  /// Replaces a file or an empty folder at `to`.
  virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Makes `link` point to `target` (kept as written). Errors: kIo, also when `link` exists.
  virtual Status make_link(const std::filesystem::path& target,
                           const std::filesystem::path& link) = 0;
  /// Removes a file, a link, or an empty folder; absent is fine.
  virtual Status remove(const std::filesystem::path& path) = 0;
  /// Puts a folder's entries on the disk.
  virtual Status sync_folder(const std::filesystem::path& folder) = 0;

  /// Bytes an ordinary user can still write where `folder` is.
  virtual Result<std::uint64_t> free_bytes(const std::filesystem::path& folder) = 0;
  /// The lock of `path` (an empty file, made when absent), or null when somebody holds it.
  virtual Result<std::unique_ptr<FileLock>> try_lock(const std::filesystem::path& path) = 0;
};

/// Whether `info` is of this process's user and open to nobody else.
bool is_private(const FileInfo& info);

/// Calls `visit` with the names in a folder of the operating system, as they come, in memory that
/// does not grow with their number, until it returns false. Names that are removed or made
/// meanwhile may be missing. Errors: kIo.
Status visit_names(const std::filesystem::path& folder,
                   const std::function<bool(const std::string&)>& visit);

/// Sets a file's times to now. One that cannot be touched keeps its times.
void mark_used(const std::filesystem::path& path);

/// The operating system's files.
Filesystem& real_filesystem();

/// Writes `text` so that `path` has either its old content or all of the new: a file beside it,
/// synced, then renamed. Errors: kIo; nothing is left beside `path`.
Status write_atomically(Filesystem& files, const std::filesystem::path& path,
                        std::string_view text);

/// The same, with mode 0600 from the start.
Status write_private_atomically(Filesystem& files, const std::filesystem::path& path,
                                std::string_view text);

}  // namespace layard::base
