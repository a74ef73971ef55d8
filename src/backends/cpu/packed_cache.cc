#include "backends/cpu/packed_cache.h"

#include <fcntl.h>
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
constexpr std::size_t kNameDigits = 32;  // of the key's hash
constexpr std::string_view kMarkName = "packed";
// Passes over the folder of one prune; each removes Options::entries_max files or is the last.
constexpr int kPassesMax = 10'000;

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

// The longest unused of any number of entries, in bounded memory.
class LongestUnused {
 public:
  explicit LongestUnused(std::size_t entries_max) : entries_max_(entries_max) {}

  void add(PackedEntry entry) {
    entries_.push_back(std::move(entry));
    std::ranges::push_heap(entries_, before);
    if (entries_.size() <= entries_max_) return;
    std::ranges::pop_heap(entries_, before);  // the last used of them
    entries_.pop_back();
  }
  std::vector<PackedEntry> take() {
    std::ranges::sort_heap(entries_, before);
    return std::move(entries_);
  }

 private:
  // By name where two were used at the same time.
  static bool before(const PackedEntry& a, const PackedEntry& b) {
    return a.last_used_ns != b.last_used_ns ? a.last_used_ns < b.last_used_ns : a.path < b.path;
  }
  std::size_t entries_max_;
  std::vector<PackedEntry> entries_;  // a heap, the last used on top
};

// Names as this cache gives them; whatever else lies in its folder is somebody's own.
bool is_packed_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() == kNameDigits && std::ranges::all_of(name, is_hex);
}

bool is_part(const fs::path& path) { return is_part_name(path.filename().native()); }

// Nothing where there is no folder. One that a run would not use is no place to clean either: a
// link may lead to what is not ours, and others may have put anything into an open one.
Result<bool> has_own_folder(const fs::path& folder) {
  LAYARD_ASSIGN(const auto info, base::real_filesystem().link_stat(folder));
  if (!info) return false;
  if (info->kind == base::FileKind::kFolder && base::is_private(*info)) return true;
  std::string found = "is no folder";
  if (info->kind == base::FileKind::kLink) {
    found = "is a link";
  } else if (info->kind == base::FileKind::kFolder) {
    found = info->owner == ::geteuid() ? "is open to others" : "belongs to another user";
  }
  return Error{ErrorCode::kIo, "'" + folder.string() + "' " + found +
                                   ", so no run uses what is in it and nothing there is touched; "
                                   "it must be a folder of this user with mode 0700: change its "
                                   "mode, remove it, or set LAYARD_CACHE"};
}

// What a start does for those that were killed: little, and only here.
void remove_some_dead(const fs::path& folder) {
  constexpr int kNamesMax = 1000;
  int names = 0;
  // A folder that cannot be read has nothing that would be used either.
  (void)base::visit_names(folder, [&](const std::string& name) {
    if (is_part_name(name)) remove_abandoned(folder / name);
    return ++names < kNamesMax;
  });
}

std::string key_of(const fs::path& path) {
  const auto file = base::ReadOnlyFile::open(path);
  std::vector<std::byte> header(PackedCache::kHeaderBytes);
  if (!file.ok() || !file->read_at(0, header).ok()) return "";
  const std::string text = read_header(header);
  return text.starts_with(kMagic) ? text.substr(kMagic.size()) : "";
}

}  // namespace

std::string PackedKey::text(std::size_t payload_bytes) const {
  return "weights " + weights_sha256 + "\nconfig " + config_sha256 + "\nisa " + isa + "\ncode " +
         code_hash + "\ntype " + compute_type + "\nbytes " + std::to_string(payload_bytes) + "\n";
}

PackedWriter::~PackedWriter() { ::munmap(data_, size_); }

std::span<std::byte> PackedWriter::payload() const {
  return std::span(data_, size_).subspan(PackedCache::kHeaderBytes);
}

fs::path PackedCache::path_of(const PackedKey& key, std::size_t payload_bytes) const {
  const std::string name = base::sha256_hex(key.text(payload_bytes)).substr(0, kNameDigits);
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
  const auto holder = files.link_stat(folder());
  const bool trusted = holder.ok() && holder->has_value() && base::is_private(**holder) &&
                       (*holder)->kind == base::FileKind::kFolder;
  if (trusted) remove_some_dead(folder());
  const auto info = files.link_stat(path);
  if (!info.ok() || !info->has_value()) return std::nullopt;
  if (!trusted || !base::is_private(**info) || (*info)->kind != base::FileKind::kFile) {
    return warn("file or folder is not this user's alone (0600 in 0700)");
  }
  const auto file = base::ReadOnlyFile::open_private(path);
  if (!file.ok()) return warn(file.error().message);
  if (file->size_bytes() != kHeaderBytes + payload_bytes) return warn("its size is wrong");
  auto mapped = file->map();
  if (!mapped.ok()) return warn(mapped.error().message);
  const auto stated = stated_hash(read_header(mapped->bytes()), key.text(payload_bytes));
  if (!stated) return warn("its header is damaged");
  const checkpoint::Mark mark{kMarkName, *stated};
  if (checkpoint::has_mark(stamps(), path, mark)) {
    // Not the file: its times say whether it is still the one that was hashed.
    base::mark_used(stamps().mark_path(resolved_folder() / path.filename(), kMarkName));
    return std::move(*mapped);
  }
  if (payload_hash(mapped->bytes().subspan(kHeaderBytes)) != *stated) {
    return warn("its content has changed");
  }
  checkpoint::set_mark(stamps(), path, mark);
  return std::move(*mapped);
}

Result<std::unique_ptr<PackedWriter>> PackedCache::create(std::size_t payload_bytes) {
  LAYARD_TRY(base::real_filesystem().make_private_folder(folder()));
  const std::size_t size = kHeaderBytes + payload_bytes;
  LAYARD_ASSIGN(PartFile part, PartFile::create(folder()));
  // Space is taken now: a full disk under a mapping would end the process.
  const int error_number = ::posix_fallocate(part.descriptor(), 0, static_cast<off_t>(size));
  if (error_number != 0) {
    errno = error_number;
    return io_error("take " + std::to_string(size >> 20U) + " MiB for", part.path());
  }
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, part.descriptor(), 0);
  if (data == MAP_FAILED) return io_error("map", part.path());
  return std::unique_ptr<PackedWriter>(
      new PackedWriter(std::move(part), static_cast<std::byte*>(data), size));
}

Result<base::MappedFile> PackedCache::commit(PackedWriter& writer, const PackedKey& key) {
  const std::string hash = payload_hash(writer.payload());
  const std::string header = header_text(key.text(writer.payload().size()), hash);
  if (header.size() >= kHeaderBytes) return Error{ErrorCode::kIo, "a packed header is too long"};
  std::memcpy(writer.data_, header.data(), header.size());
  // On the disk before its mark is: after a power cut the mark must not vouch for lost pages.
  if (::msync(writer.data_, writer.size_, MS_SYNC) != 0 ||
      ::fsync(writer.part_.descriptor()) != 0) {
    return io_error("sync", writer.part_.path());
  }
  const fs::path path = path_of(key, writer.payload().size());
  LAYARD_TRY(writer.part_.name(path));
  LAYARD_ASSIGN(const base::ReadOnlyFile file, base::ReadOnlyFile::open_private(path));
  if (!file.is_same_file(writer.part_.descriptor()) || file.size_bytes() != writer.size_) {
    return Error{ErrorCode::kIo, "'" + path.string() + "' was replaced while it was written"};
  }
  checkpoint::set_mark(stamps(), path, {kMarkName, hash});
  LAYARD_ASSIGN(base::MappedFile mapped, file.map());
  const auto removed = prune(options_.bytes_max, path);
  if (!removed.ok()) log_.write(base::LogLevel::kWarning, removed.error().message);
  return mapped;
}

checkpoint::StampStore PackedCache::stamps() const {
  return {base::real_filesystem(), options_.cache, log_};
}

fs::path PackedCache::resolved_folder() const {
  const auto resolved = base::real_filesystem().canonical(folder());
  return resolved.ok() ? *resolved : folder();
}

Status PackedCache::visit(const std::function<void(PackedEntry)>& each) const {
  auto& files = base::real_filesystem();
  LAYARD_ASSIGN(const bool exists, has_own_folder(folder()));
  if (!exists) return {};
  const fs::path resolved = resolved_folder();
  return base::visit_names(folder(), [&](const std::string& name) {
    const fs::path path = folder() / name;
    if (!is_packed_name(name) && !is_part_name(name)) return true;
    const auto info = files.link_stat(path);
    if (!info.ok() || !info->has_value() || (*info)->kind != base::FileKind::kFile) return true;
    PackedEntry entry{path, (*info)->size_bytes, (*info)->mtime_ns, "", {}, false};
    entry.trusted = is_packed_name(name) && base::is_private(**info);
    entry.mark = stamps().mark_path(resolved / name, kMarkName);
    const auto mark = files.link_stat(entry.mark);
    if (mark.ok() && mark->has_value()) entry.last_used_ns = (*mark)->mtime_ns;
    each(std::move(entry));
    return true;
  });
}

Result<PackedListing> PackedCache::list() const {
  PackedListing listing;
  LongestUnused longest(options_.entries_max);
  LAYARD_TRY(visit([&](PackedEntry entry) {
    ++listing.files;
    listing.bytes += entry.bytes;
    longest.add(std::move(entry));
  }));
  listing.entries = longest.take();
  for (PackedEntry& entry : listing.entries) entry.key = key_of(entry.path);
  return listing;
}

Status PackedCache::remove(const PackedEntry& entry, PackedPruning& report) const {
  if (is_part(entry.path)) {
    if (!remove_abandoned(entry.path)) return {};
  } else {
    LAYARD_TRY(base::real_filesystem().remove(entry.path));
    (void)base::real_filesystem().remove(entry.mark);  // of no use any more, and no harm either
  }
  ++report.files_removed;
  report.bytes_freed += entry.bytes;
  if (report.removed.size() < options_.entries_max) {
    report.removed.push_back(entry.path.filename().string());
  }
  return {};
}

Status PackedCache::remove_dead(PackedPruning& report) const {
  Status status;
  LAYARD_TRY(visit([&](const PackedEntry& entry) {
    if (is_part(entry.path) && status.ok()) status = remove(entry, report);
  }));
  return status;
}

Result<PackedPruning> PackedCache::prune(std::uint64_t bytes_max, const fs::path& keep) const {
  PackedPruning report;
  LAYARD_TRY(remove_dead(report));
  for (int pass = 0; pass < kPassesMax; ++pass) {
    LongestUnused longest(options_.entries_max);
    std::uint64_t files = 0;
    report.bytes_left = 0;
    LAYARD_TRY(visit([&](PackedEntry entry) {
      if (is_part(entry.path)) return;
      report.bytes_left += entry.bytes;
      if (entry.path == keep) return;
      ++files;
      longest.add(std::move(entry));
    }));
    const std::vector<PackedEntry> entries = longest.take();
    for (const PackedEntry& entry : entries) {
      if (bytes_max > 0 && report.bytes_left <= bytes_max) return report;
      LAYARD_TRY(remove(entry, report));
      report.bytes_left -= entry.bytes;
    }
    if (entries.size() == files) break;
  }
  return report;
}

}  // namespace layard::backends::cpu
