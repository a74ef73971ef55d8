/// Files opened for reading: bounded reads first, a read-only mapping once the reader trusts them.
///
/// Invariants: nothing is allocated or mapped from a size the file itself claims; a mapping is
/// private and read-only. A file that another process shortens while it is mapped makes reads of
/// the lost pages fail with SIGBUS, as for every mapped file; no check can prevent that. So what is
/// mapped is never rewritten or shortened in place by us: files are replaced by rename and removed
/// by unlink, and a mapping keeps the old content. docs/checkpoints.md asks the same of others.
/// Thread-safety: a ReadOnlyFile is used by one thread at a time; MappedFile bytes are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "layard/error.h"

namespace layard::base {

/// A whole file mapped into memory; move-only owner of the mapping.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// The file's bytes, valid as long as this object; empty for an empty file.
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  /// Gives the memory of pages read so far back to the system; they are read again when touched.
  void forget_pages() const noexcept;

 private:
  friend class ReadOnlyFile;
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A regular file opened for reading; move-only owner of the descriptor.
class ReadOnlyFile {
 public:
  /// Errors: kIo when `path` is absent, unreadable or not a regular file (a folder, a device, a
  /// pipe); opening never blocks.
  static Result<ReadOnlyFile> open(const std::filesystem::path& path);
  /// The same, of a file that is this user's and open to nobody else. Errors: kIo also for a link
  /// and for any other file.
  static Result<ReadOnlyFile> open_private(const std::filesystem::path& path);

  ReadOnlyFile(ReadOnlyFile&& other) noexcept;
  ReadOnlyFile& operator=(ReadOnlyFile&& other) noexcept;
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
  ~ReadOnlyFile();

  /// Whether `descriptor` is open on the very same file.
  bool is_same_file(int descriptor) const;

  const std::filesystem::path& path() const noexcept { return path_; }

  /// Bytes when it was opened.
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Fills `out` from `offset`. Errors: kIo, also when the file ends before `out` is full.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Maps all size_bytes() bytes. The mapping outlives this object. Errors: kIo, also when the
  /// file has become shorter since it was opened.
  Result<MappedFile> map() const;

 private:
  enum class Access : std::uint8_t { kAnybody, kThisUserOnly };
  static Result<ReadOnlyFile> open(const std::filesystem::path& path, Access access);
  ReadOnlyFile(int descriptor, std::uint64_t size_bytes, std::filesystem::path path)
      : descriptor_(descriptor), size_bytes_(size_bytes), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
  std::filesystem::path path_;
};

/// The whole text of a file of at most `bytes_max` bytes.
/// Errors: kIo when it cannot be read, kArtifactIntegrity when it is larger.
Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t bytes_max);
Result<std::string> read_text_file(const ReadOnlyFile& file, std::uint64_t bytes_max);

}  // namespace layard::base
