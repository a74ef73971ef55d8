/// Packed weights kept between processes: one file per checkpoint, instruction set and compute
/// type.
///
/// A file is one page of header (its key, the payload's SHA-256) and the payload as it lies in
/// memory; processes map it read-only and share it. It is written beside its final name and
/// renamed, so it is whole or absent. Its name is the hash of its key: weights, configuration,
/// kernels' code, compute type and layout version; a change of any of them makes another name, and
/// old files go when the folder is over its limit, longest unused first. Files are 0600 in a folder
/// 0700 of this user; anything else is ignored. The payload is hashed when it is written and again
/// only when path, size, time of change, inode or owner differ from those. Thread-safety: one
/// caller at a time per object; any number of processes per folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mapped_file.h"
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
  PackedWriter(std::filesystem::path path, int descriptor, std::byte* data, std::size_t size)
      : path_(std::move(path)), descriptor_(descriptor), data_(data), size_(size) {}

  std::filesystem::path path_;  // empty once committed
  int descriptor_;              // holds the lock that says: being written
  std::byte* data_;
  std::size_t size_;
};

/// One file of the folder, for people.
struct PackedEntry {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::int64_t last_used_ns = 0;  ///< since 1970
  std::string key;                ///< the header's text; empty when it cannot be read
};

class PackedCache {
 public:
  struct Options {
    /// Layard's cache folder; the files lie in `packed` below it.
    std::filesystem::path cache;
    std::uint64_t bytes_max = std::uint64_t{20} << 30U;
  };

  PackedCache(Options options, base::LogSink& log) : options_(std::move(options)), log_(log) {}

  /// The payload's offset in a mapped file.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// The mapped file of `key`, or nothing when there is none that may be used. Never an error: a
  /// damaged or foreign file is reported to the log and ignored.
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

  /// All files, longest unused first. Errors: kIo.
  Result<std::vector<PackedEntry>> list() const;

  /// Removes files, longest unused first, until at most `bytes_max` remain; `keep` is spared.
  /// Returns what was removed. Errors: kIo.
  Result<std::vector<PackedEntry>> prune(std::uint64_t bytes_max,
                                         const std::filesystem::path& keep) const;

 private:
  std::filesystem::path folder() const { return options_.cache / "packed"; }
  std::filesystem::path path_of(const PackedKey& key, std::size_t payload_bytes) const;

  Options options_;
  base::LogSink& log_;
};

}  // namespace layard::backends::cpu
