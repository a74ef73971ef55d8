#include "backends/cpu/packed_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/filesystem.h"
#include "base/sha256.h"
#include "checkpoint/verified_file.h"

namespace layard::backends::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "layard packed weights 1\n";
constexpr std::string_view kSuffix = ".packed";
constexpr std::string_view kPartSuffix = ".part";

Error io_error(const std::string& action, const fs::path& path) {
  return {ErrorCode::kIo, "cannot " + action + " '" + path.string() +
                              "': " + std::generic_category().message(errno)};
}

std::string payload_hash(std::span<const std::byte> payload) {
  base::Sha256 hash;
  hash.update(payload);
  return hash.hex();
}

// The header of a file: magic, key, and the payload's hash.
std::string header_text(const std::string& key, const std::string& payload_sha256) {
  return std::string(kMagic) + key + "payload " + payload_sha256 + "\n";
}

// The header's text up to its padding.
std::string read_header(std::span<const std::byte> file) {
  const auto* begin = reinterpret_cast<const char*>(file.data());
  return {begin, ::strnlen(begin, std::min(file.size(), PackedCache::kHeaderBytes))};
}

// The payload's hash that a header of `key` states, or nothing when it is not such a header.
std::optional<std::string> stated_hash(const std::string& header, const std::string& key) {
  const std::string start = std::string(kMagic) + key + "payload ";
  if (!header.starts_with(start) || !header.ends_with("\n")) return std::nullopt;
  std::string hash = header.substr(start.size(), header.size() - start.size() - 1);
  if (!base::is_sha256_hex(hash)) return std::nullopt;
  return hash;
}

// A part file is locked by its writer; an unlocked one is left from a process that died.
bool is_being_written(const fs::path& part) {
  const auto lock = base::real_filesystem().try_lock(part);
  return !lock.ok() || *lock == nullptr;
}

}  // namespace

std::string PackedKey::text(std::size_t payload_bytes) const {
  return "weights " + weights_sha256 + "\nconfig " + config_sha256 + "\nisa " + isa + "\ncode " +
         code_hash + "\ntype " + compute_type + "\nbytes " + std::to_string(payload_bytes) + "\n";
}

PackedWriter::~PackedWriter() {
  ::munmap(data_, size_);
  if (!path_.empty()) ::unlink(path_.c_str());
  ::close(descriptor_);
}

std::span<std::byte> PackedWriter::payload() const {
  return std::span(data_, size_).subspan(PackedCache::kHeaderBytes);
}

fs::path PackedCache::path_of(const PackedKey& key, std::size_t payload_bytes) const {
  const std::string name = base::sha256_hex(key.text(payload_bytes)).substr(0, 32);
  return folder() / (name + std::string(kSuffix));
}

std::optional<base::MappedFile> PackedCache::find(const PackedKey& key, std::size_t payload_bytes) {
  const fs::path path = path_of(key, payload_bytes);
  const auto warn = [&](const std::string& why) {
    log_.write(base::LogLevel::kWarning,
               "packed weights '" + path.string() + "' are ignored: " + why);
    return std::nullopt;
  };
  auto& files = base::real_filesystem();
  const auto info = files.link_stat(path);
  if (!info.ok() || !info->has_value()) return std::nullopt;
  const auto holder = files.link_stat(folder());
  const bool trusted = holder.ok() && holder->has_value() && base::is_private(**holder) &&
                       base::is_private(**info) && (*info)->kind == base::FileKind::kFile;
  if (!trusted) return warn("file or folder is not this user's alone (0600 in 0700)");
  const auto file = base::ReadOnlyFile::open(path);
  if (!file.ok()) return warn(file.error().message);
  if (file->size_bytes() != kHeaderBytes + payload_bytes) return warn("its size is wrong");
  auto mapped = file->map();
  if (!mapped.ok()) return warn(mapped.error().message);
  const auto stated = stated_hash(read_header(mapped->bytes()), key.text(payload_bytes));
  if (!stated) return warn("its header is damaged");
  const checkpoint::StampStore stamps{files, options_.cache, log_};
  const checkpoint::Mark mark{"packed", *stated};
  if (!checkpoint::has_mark(stamps, path, mark)) {
    if (payload_hash(mapped->bytes().subspan(kHeaderBytes)) != *stated) {
      return warn("its content has changed");
    }
    checkpoint::set_mark(stamps, path, mark);
  }
  base::mark_used(path);
  return std::move(*mapped);
}

Result<std::unique_ptr<PackedWriter>> PackedCache::create(std::size_t payload_bytes) {
  LAYARD_TRY(base::make_private_folder(folder()));
  const std::size_t size = kHeaderBytes + payload_bytes;
  std::string name = (folder() / ("XXXXXX" + std::string(kPartSuffix))).string();
  const int descriptor = ::mkostemps(name.data(), static_cast<int>(kPartSuffix.size()), O_CLOEXEC);
  if (descriptor < 0) return io_error("make a file in", folder());
  const fs::path path = name;
  // Space is taken now: a full disk under a mapping would end the process.
  const int error_number = ::posix_fallocate(descriptor, 0, static_cast<off_t>(size));
  if (error_number != 0) {
    ::close(descriptor);
    ::unlink(name.c_str());
    errno = error_number;
    return io_error("take " + std::to_string(size >> 20U) + " MiB for", path);
  }
  ::flock(descriptor, LOCK_EX | LOCK_NB);
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    const Error error = io_error("map", path);
    ::unlink(name.c_str());
    ::close(descriptor);
    return error;
  }
  return std::unique_ptr<PackedWriter>(
      new PackedWriter(path, descriptor, static_cast<std::byte*>(data), size));
}

Result<base::MappedFile> PackedCache::commit(PackedWriter& writer, const PackedKey& key) {
  const std::string hash = payload_hash(writer.payload());
  const std::string header = header_text(key.text(writer.payload().size()), hash);
  if (header.size() >= kHeaderBytes) return Error{ErrorCode::kIo, "a packed header is too long"};
  std::memcpy(writer.data_, header.data(), header.size());
  if (::msync(writer.data_, writer.size_, MS_ASYNC) != 0) return io_error("sync", writer.path_);
  const fs::path path = path_of(key, writer.payload().size());
  LAYARD_TRY(base::real_filesystem().rename(writer.path_, path));
  writer.path_.clear();
  const checkpoint::StampStore stamps{base::real_filesystem(), options_.cache, log_};
  checkpoint::set_mark(stamps, path, {"packed", hash});
  LAYARD_ASSIGN(const base::ReadOnlyFile file, base::ReadOnlyFile::open(path));
  LAYARD_ASSIGN(base::MappedFile mapped, file.map());
  const auto removed = prune(options_.bytes_max, path);
  if (!removed.ok()) log_.write(base::LogLevel::kWarning, removed.error().message);
  return mapped;
}

Result<std::vector<PackedEntry>> PackedCache::list() const {
  auto& files = base::real_filesystem();
  LAYARD_ASSIGN(const auto holder, files.stat(folder()));
  std::vector<PackedEntry> entries;
  if (!holder) return entries;
  LAYARD_ASSIGN(const std::vector<std::string> names, files.list(folder()));
  for (const std::string& name : names) {
    if (!name.ends_with(kSuffix) && !name.ends_with(kPartSuffix)) continue;
    const fs::path path = folder() / name;
    const auto info = files.link_stat(path);
    if (!info.ok() || !info->has_value() || (*info)->kind != base::FileKind::kFile) continue;
    PackedEntry entry{path, (*info)->size_bytes, (*info)->atime_ns, ""};
    const auto file = base::ReadOnlyFile::open(path);
    std::vector<std::byte> header(kHeaderBytes);
    if (file.ok() && file->read_at(0, header).ok()) {
      const std::string text = read_header(header);
      if (text.starts_with(kMagic)) entry.key = text.substr(kMagic.size());
    }
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, &PackedEntry::last_used_ns);
  return entries;
}

Result<std::vector<PackedEntry>> PackedCache::prune(std::uint64_t bytes_max,
                                                    const fs::path& keep) const {
  LAYARD_ASSIGN(std::vector<PackedEntry> entries, list());
  std::uint64_t total = 0;
  for (const PackedEntry& entry : entries) total += entry.bytes;
  std::vector<PackedEntry> removed;
  for (PackedEntry& entry : entries) {
    if (entry.path == keep) continue;
    if (entry.path.native().ends_with(kPartSuffix) ? is_being_written(entry.path)
                                                   : total <= bytes_max) {
      continue;
    }
    LAYARD_TRY(base::real_filesystem().remove(entry.path));
    total -= entry.bytes;
    removed.push_back(std::move(entry));
  }
  return removed;
}

}  // namespace layard::backends::cpu
