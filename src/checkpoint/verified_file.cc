#include "checkpoint/verified_file.h"

#include <optional>
#include <string>

#include "base/json.h"
#include "base/sha256.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;

constexpr std::uint64_t kStampBytesMax = 16 * 1024;

// The stamp's text; the same file state gives the same text.
std::string stamp_text(const fs::path& resolved, const base::FileInfo& info,
                       std::string_view sha256) {
  JsonValue stamp = JsonValue::object();
  stamp.set("path", JsonValue::string(resolved.string()));
  stamp.set("size", JsonValue::integer(static_cast<std::int64_t>(info.size_bytes)));
  stamp.set("mtime_ns", JsonValue::integer(info.mtime_ns));
  stamp.set("ctime_ns", JsonValue::integer(info.ctime_ns));
  stamp.set("inode", JsonValue::integer(static_cast<std::int64_t>(info.inode)));
  stamp.set("owner", JsonValue::integer(std::int64_t{info.owner}));
  stamp.set("sha256", JsonValue::string(std::string(sha256)));
  return base::write_json(stamp, base::JsonStyle::kPython) + "\n";
}

Result<base::FileInfo> file_info(base::Filesystem& files, const fs::path& path) {
  LAYARD_ASSIGN(const auto info, files.stat(path));
  if (!info || info->kind != base::FileKind::kFile) {
    return Error{ErrorCode::kIo, "'" + path.string() + "' is not a file"};
  }
  return *info;
}

// A stamp of `file` at `path` that says `value` of the file as it is now.
struct Stamp {
  fs::path file;
  fs::path path;
  std::string text;
};

void save(const StampStore& store, const Stamp& stamp) {
  Status status = store.files.make_private_folder(stamp.path.parent_path());
  if (status.ok()) status = base::write_private_atomically(store.files, stamp.path, stamp.text);
  if (!status.ok()) {
    store.log.write(base::LogLevel::kWarning, "a check of '" + stamp.file.string() +
                                                  "' is not remembered: " + status.error().message);
  }
}

bool is_kept(const StampStore& store, const Stamp& stamp) {
  if (store.cache.empty()) return false;
  const auto found = store.files.read_private_text(stamp.path, kStampBytesMax);
  return found.ok() && *found == stamp.text;
}

Stamp hash_stamp(const StampStore& store, const fs::path& resolved, const base::FileInfo& info,
                 std::string_view sha256) {
  return {resolved, store.stamp_path(resolved), stamp_text(resolved, info, sha256)};
}

// Nothing where no stamps are kept or the file cannot be looked at.
std::optional<Stamp> mark_stamp(const StampStore& store, const fs::path& file, const Mark& mark) {
  if (store.cache.empty()) return std::nullopt;
  const auto resolved = store.files.canonical(file);
  if (!resolved.ok()) return std::nullopt;
  const auto info = file_info(store.files, *resolved);
  if (!info.ok()) return std::nullopt;
  return Stamp{*resolved, store.mark_path(*resolved, mark.name),
               stamp_text(*resolved, *info, mark.value)};
}

// A file that changed while it was read is not the one that was hashed.
Status stamp_if_unchanged(const StampStore& store, const fs::path& resolved,
                          const base::FileInfo& before, std::string_view sha256) {
  LAYARD_ASSIGN(const base::FileInfo after, file_info(store.files, resolved));
  const bool unchanged =
      stamp_text(resolved, after, sha256) == stamp_text(resolved, before, sha256);
  if (unchanged && !store.cache.empty()) save(store, hash_stamp(store, resolved, before, sha256));
  return {};
}

}  // namespace

fs::path StampStore::stamp_path(const fs::path& resolved) const {
  return cache / "stamps" / (base::sha256_hex(resolved.string()) + ".json");
}

// A mark's own stamp lies beside the hash's.
fs::path StampStore::mark_path(const fs::path& resolved, std::string_view name) const {
  return cache / "stamps" /
         (base::sha256_hex(resolved.string()) + "." + std::string(name) + ".json");
}

Status verify_sha256(const StampStore& store, const fs::path& file, std::string_view expected,
                     const std::stop_token& stop) {
  LAYARD_ASSIGN(const fs::path resolved, store.files.canonical(file));
  LAYARD_ASSIGN(const base::FileInfo before, file_info(store.files, resolved));
  if (is_kept(store, hash_stamp(store, resolved, before, expected))) return {};
  LAYARD_ASSIGN(const std::string found, base::sha256_file(resolved, stop));
  if (found != expected) {
    return Error{ErrorCode::kArtifactRevision, "'" + file.string() + "' has SHA-256 " + found +
                                                   ", expected " + std::string(expected) +
                                                   "; it is damaged or another revision"};
  }
  return stamp_if_unchanged(store, resolved, before, expected);
}

Result<std::string> file_sha256(const StampStore& store, const fs::path& file,
                                const std::stop_token& stop) {
  LAYARD_ASSIGN(const fs::path resolved, store.files.canonical(file));
  LAYARD_ASSIGN(const base::FileInfo before, file_info(store.files, resolved));
  if (!store.cache.empty()) {
    const auto text = store.files.read_private_text(store.stamp_path(resolved), kStampBytesMax);
    const auto stamp = text.ok() ? base::parse_json(*text, {}) : Result<JsonValue>(text.error());
    const JsonValue* sha256 = stamp.ok() ? stamp->find("sha256") : nullptr;
    // The stamp speaks of this state of the file only if it is what would be written now.
    if (sha256 != nullptr && base::is_sha256_hex(sha256->text()) &&
        stamp_text(resolved, before, sha256->text()) == *text) {
      return sha256->text();
    }
  }
  LAYARD_ASSIGN(std::string found, base::sha256_file(resolved, stop));
  LAYARD_TRY(stamp_if_unchanged(store, resolved, before, found));
  return found;
}

void write_stamp(const StampStore& store, const fs::path& file, std::string_view sha256) {
  if (store.cache.empty()) return;
  const auto resolved = store.files.canonical(file);
  if (!resolved.ok()) return;
  const auto info = file_info(store.files, *resolved);
  if (info.ok()) save(store, hash_stamp(store, *resolved, *info, sha256));
}

bool has_mark(const StampStore& store, const fs::path& file, const Mark& mark) {
  const auto stamp = mark_stamp(store, file, mark);
  return stamp && is_kept(store, *stamp);
}

void set_mark(const StampStore& store, const fs::path& file, const Mark& mark) {
  if (const auto stamp = mark_stamp(store, file, mark)) save(store, *stamp);
}

}  // namespace layard::checkpoint
