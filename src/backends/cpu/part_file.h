/// A file on its way into a folder that several processes write to and clean.
///
/// Until it gets its final name it ends in `.part` and is locked (flock) by its writer. Protocol:
/// only the holder of the lock renames or removes the name, and a writer that has the lock makes
/// sure that the name still leads to its file. So a cleaner never takes a file that is being
/// written, also not in the moment between its making and its locking, and what a killed process
/// left (the system gave its lock back) can go. Where a filesystem has no locks nothing is removed.
/// Thread-safety: one caller at a time per object; any number of processes and threads per folder.
#pragma once

#include <filesystem>
#include <string_view>

#include "layard/error.h"

namespace layard::backends::cpu {

inline constexpr std::string_view kPartSuffix = ".part";

/// Whether `name`, without a folder, is one that PartFile::create() gives.
bool is_part_name(std::string_view name);

/// Owner of the descriptor, the lock, and the name until name() has succeeded.
class PartFile {
 public:
  /// An empty file, 0600, with a new name in `folder`. Errors: kIo.
  static Result<PartFile> create(const std::filesystem::path& folder);

  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) = delete;
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  /// Removes the file when it was not named.
  ~PartFile();

  int descriptor() const { return descriptor_; }
  /// Where it lies; empty once it is named.
  const std::filesystem::path& path() const { return path_; }

  /// Gives the file its final name, in the place of whatever file has it. Errors: kIo.
  Status name(const std::filesystem::path& path);

 private:
  PartFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::filesystem::path path_;
};

/// Removes the `.part` file at `path` if nobody is writing it. Returns whether it did.
bool remove_abandoned(const std::filesystem::path& path);

}  // namespace layard::backends::cpu
