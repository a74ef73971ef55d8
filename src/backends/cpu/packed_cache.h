/// Packed weights kept between processes: one file per checkpoint, instruction set and compute
/// type.
///
/// A file is one page of header (its key, the payload's SHA-256) and the payload as it lies in
/// memory; processes map it read-only and share it. It is written beside its final name and
/// renamed, so it is whole or absent. Its name is the hash of its key: weights, configuration,
/// kernels' code, compute type and layout version; a change of any of them makes another name, and
/// old files go when the folder is over its limit, longest unused first. Files are 0600 in a folder
/// 0700 of this user; anything else is ignored. The payload is hashed when it is written and again
/// only when path, size, times of change, inode or owner differ from those (checkpoint/
/// verified_file.h). Nothing here writes to or shortens a file that has its name: a new one takes
/// its place by rename and prune() unlinks, so whoever has the old one mapped keeps it whole. That
/// leaves this user's other programs as the only ones who could shorten it under a mapping
/// (SIGBUS). Thread-safety: one caller at a time per object; any number of processes per folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/part_file.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "checkpoint/verified_file.h"
#include "layard/error.h"

namespace layard::backends::cpu {

/// What packed weights depend on.
struct PackedKey {
  std::string weights_sha256;
  std::string config_sha256;
  std::string isa;
  std::string code_hash;
  std::string compute_type;

  /// One line per part and the layout's version.
  std::string text(std::size_t payload_bytes) const;
};

/// A file being packed: writable memory that becomes the cache's file by commit().
class PackedWriter {
 public:
  PackedWriter(const PackedWriter&) = delete;
  PackedWriter& operator=(const PackedWriter&) = delete;
  /// Removes the file when it was not committed.
  ~PackedWriter();

  /// The payload, zeroed, page-aligned.
  std::span<std::byte> payload() const;

 private:
  friend class PackedCache;
  PackedWriter(PartFile part, std::byte* data, std::size_t size)
      : part_(std::move(part)), data_(data), size_(size) {}

  PartFile part_;
  std::byte* data_;
  std::size_t size_;
};

/// One file of the folder, for people.
struct PackedEntry {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::int64_t last_used_ns = 0;  ///< since 1970; of one that never was: when it was written
  std::string key;                ///< the header's text; empty when it cannot be read
  std::filesystem::path mark;     ///< the stamp that vouches for it; its time is the last use
  bool trusted = false;           ///< whole and this user's alone (0600), as find() demands
};

struct PackedListing {
  std::vector<PackedEntry> entries;  ///< longest unused first, at most Options::entries_max
  std::uint64_t files = 0;           ///< of all, also of those left out
  std::uint64_t bytes = 0;
};

struct PackedPruning {
  /// Names of what was removed, longest unused first, at most Options::entries_max.
  std::vector<std::string> removed;
  std::uint64_t files_removed = 0;
  std::uint64_t bytes_freed = 0;
  std::uint64_t bytes_left = 0;  ///< of packed files; those being written do not count
};

class PackedCache {
 public:
  struct Options {
    /// Layard's cache folder; the files lie in `packed` below it.
    std::filesystem::path cache;
    std::uint64_t bytes_max = std::uint64_t{20} << 30U;
    /// Files whose names are in memory at a time, however many the folder has.
    std::size_t entries_max = 10'000;
  };

  PackedCache(Options options, base::LogSink& log) : options_(std::move(options)), log_(log) {}

  /// The payload's offset in a mapped file.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// The mapped file of `key`, or nothing when there is none that may be used. Never an error: a
  /// damaged or foreign file is reported to the log and ignored. Also removes what killed writers
  /// left, as far as the folder's first 1,000 names show it.
  std::optional<base::MappedFile> find(const PackedKey& key, std::size_t payload_bytes);

  /// Room for a file of `key`. Errors: kIo: no disk space, a folder that is not private.
  Result<std::unique_ptr<PackedWriter>> create(std::size_t payload_bytes);

  /// Gives a filled file its name and maps it read-only; then prunes. Errors: kIo; the writer's
  /// memory stays valid until it is destroyed.
  Result<base::MappedFile> commit(PackedWriter& writer, const PackedKey& key);

  /// Tells the log that keeping failed.
  void warn(const std::string& what, const Error& error) {
    log_.write(base::LogLevel::kWarning, what + ": " + error.message);
  }

  /// Files and those being written, any number of them, with names as this cache gives them.
  /// Errors: kIo, also where the folder is a link, another user's, or open to others.
  Result<PackedListing> list() const;

  /// Removes what killed writers left, and files, longest unused first, until at most `bytes_max`
  /// remain (0: all); `keep` and those being written are spared and, of the latter,
  /// not counted. Works through any number of files. Errors: as list().
  Result<PackedPruning> prune(std::uint64_t bytes_max, const std::filesystem::path& keep) const;

 private:
  std::filesystem::path folder() const { return options_.cache / "packed"; }
  std::filesystem::path path_of(const PackedKey& key, std::size_t payload_bytes) const;
  checkpoint::StampStore stamps() const;
  /// The folder without links, as stamps name it.
  std::filesystem::path resolved_folder() const;
  /// Every entry without its key, in no order.
  Status visit(const std::function<void(PackedEntry)>& each) const;
  Status remove_dead(PackedPruning& report) const;
  Status remove(const PackedEntry& entry, PackedPruning& report) const;

  Options options_;
  base::LogSink& log_;
};

}  // namespace layard::backends::cpu
