/// base::Filesystem kept in memory: for tests of what is written, without a disk.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/filesystem.h"

namespace layard::testing {

/// Everything is of this process's user: folders 0755, files 0644, private ones 0700 and 0600.
/// Paths are absolute and free of `..` except inside link targets. Thread-safe.
class MemoryFilesystem final : public base::Filesystem {
 public:
  using Path = std::filesystem::path;

  MemoryFilesystem() { nodes_["/"] = Node{new_info(base::FileKind::kFolder, 0755), {}}; }

  /// What free_bytes() says, and the room that writes use up.
  std::uint64_t free_bytes_left = std::uint64_t{1} << 40;

  Result<std::optional<base::FileInfo>> stat(const Path& path) override {
    const std::lock_guard lock(mutex_);
    return info_of(resolve(path, true));
  }
  Result<std::optional<base::FileInfo>> link_stat(const Path& path) override {
    const std::lock_guard lock(mutex_);
    return info_of(resolve(path, false));
  }
  Result<Path> canonical(const Path& path) override {
    const std::lock_guard lock(mutex_);
    const Path found = resolve(path, true);
    if (!nodes_.contains(found.string())) return error("resolve", path);
    return found;
  }
  Result<std::string> read_text(const Path& path, std::uint64_t bytes_max) override {
    const std::lock_guard lock(mutex_);
    const Node* node = node_at(resolve(path, true));
    if (node == nullptr || node->info.kind != base::FileKind::kFile) return error("read", path);
    if (node->content.size() > bytes_max) return error("read all of", path);
    return node->content;
  }
  Result<std::string> read_private_text(const Path& path, std::uint64_t bytes_max) override {
    for (const Path& part : {path.parent_path(), path}) {
      LAYARD_ASSIGN(const auto info, link_stat(part));
      if (!info || info->kind == base::FileKind::kLink || !base::is_private(*info)) {
        return error("trust", part);
      }
    }
    return read_text(path, bytes_max);
  }
  Result<std::vector<std::string>> list(const Path& folder) override {
    const std::lock_guard lock(mutex_);
    const Path found = resolve(folder, true);
    if (!is_folder(found)) return error("list", folder);
    std::vector<std::string> names;
    for (const auto& [name, node] : nodes_) {
      if (name != "/" && Path(name).parent_path() == found) {
        names.push_back(Path(name).filename().string());
      }
    }
    std::ranges::sort(names);
    return names;
  }
  Result<std::unique_ptr<base::FileWriter>> create(const Path& path) override {
    return open(path, true);
  }
  Result<std::unique_ptr<base::FileWriter>> create_private(const Path& path) override {
    LAYARD_TRY(remove(path));
    LAYARD_ASSIGN(auto writer, open(path, true));
    const std::lock_guard lock(mutex_);
    nodes_[resolve(path, false).string()].info.mode = 0600;
    return writer;
  }
  Result<std::unique_ptr<base::FileWriter>> open_append(const Path& path) override {
    return open(path, false);
  }
  Status make_folders(const Path& folder) override {
    const std::lock_guard lock(mutex_);
    Path reached = "/";
    for (const Path& part : folder.relative_path()) {
      reached = resolve(reached / part, true);
      const auto [node, added] = nodes_.try_emplace(reached.string());
      if (added) node->second.info = new_info(base::FileKind::kFolder, 0755);
      if (node->second.info.kind != base::FileKind::kFolder) return error("make folder", folder);
    }
    return {};
  }
  Status make_private_folder(const Path& folder) override {
    LAYARD_ASSIGN(const auto before, link_stat(folder));
    LAYARD_TRY(make_folders(folder));
    const std::lock_guard lock(mutex_);
    Node& node = nodes_[resolve(folder, false).string()];
    if (!before) node.info.mode = 0700;
    const bool is_folder = node.info.kind == base::FileKind::kFolder;
    return is_folder && base::is_private(node.info) ? Status() : Status(error("trust", folder));
  }
  Status rename(const Path& from, const Path& to) override {
    const std::lock_guard lock(mutex_);
    const std::string source = resolve(from, false).string();
    const std::string target = resolve(to, false).string();
    if (!nodes_.contains(source) || !is_folder(Path(target).parent_path()) ||
        (is_folder(target) && has_children(target))) {
      return error("rename", to);
    }
    std::map<std::string, Node> moved;
    for (auto node = nodes_.begin(); node != nodes_.end();) {
      const bool inside = node->first == source || node->first.starts_with(source + "/");
      if (inside)
        moved.emplace(target + node->first.substr(source.size()), std::move(node->second));
      node = inside ? nodes_.erase(node) : std::next(node);
    }
    for (auto& [name, node] : moved) nodes_[name] = std::move(node);
    return {};
  }
  Status make_link(const Path& target, const Path& link) override {
    const std::lock_guard lock(mutex_);
    const Path found = resolve(link, false);
    if (nodes_.contains(found.string()) || !is_folder(found.parent_path())) {
      return error("make link", link);
    }
    nodes_[found.string()] = Node{new_info(base::FileKind::kLink, 0777), target.string()};
    return {};
  }
  Status remove(const Path& path) override {
    const std::lock_guard lock(mutex_);
    const std::string found = resolve(path, false).string();
    if (has_children(found)) return error("remove", path);
    nodes_.erase(found);
    return {};
  }
  Status sync_folder(const Path& folder) override {
    const std::lock_guard lock(mutex_);
    return is_folder(resolve(folder, true)) ? Status() : Status(error("sync", folder));
  }
  Result<std::uint64_t> free_bytes(const Path&) override {
    const std::lock_guard lock(mutex_);
    return free_bytes_left;
  }
  Result<std::unique_ptr<base::FileLock>> try_lock(const Path& path) override {
    LAYARD_TRY(create(path));
    const std::lock_guard lock(mutex_);
    const std::string found = resolve(path, true).string();
    if (!locked_.insert(found).second) return std::unique_ptr<base::FileLock>();
    return std::unique_ptr<base::FileLock>(std::make_unique<Lock>(*this, found));
  }

 private:
  struct Node {
    base::FileInfo info;
    std::string content;  // of a file; the target of a link
  };

  class Writer final : public base::FileWriter {
   public:
    Writer(MemoryFilesystem& files, std::string name) : files_(files), name_(std::move(name)) {}
    Status write(std::span<const std::byte> bytes) override {
      const std::lock_guard lock(files_.mutex_);
      if (bytes.size() > files_.free_bytes_left) return error("write (the disk is full)", name_);
      Node& node = files_.nodes_[name_];
      files_.free_bytes_left -= bytes.size();
      node.content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      node.info.size_bytes = node.content.size();
      node.info.mtime_ns = node.info.ctime_ns = ++files_.ticks_;
      return {};
    }
    Status sync() override { return {}; }
    Status close() override { return {}; }

   private:
    MemoryFilesystem& files_;
    std::string name_;
  };

  class Lock final : public base::FileLock {
   public:
    Lock(MemoryFilesystem& files, std::string name) : files_(files), name_(std::move(name)) {}
    ~Lock() override {
      const std::lock_guard lock(files_.mutex_);
      files_.locked_.erase(name_);
    }

   private:
    MemoryFilesystem& files_;
    std::string name_;
  };

  static Error error(const std::string& action, const Path& path) {
    return {ErrorCode::kIo, "cannot " + action + " '" + path.string() + "'"};
  }

  base::FileInfo new_info(base::FileKind kind, std::uint32_t mode) {
    base::FileInfo info;
    info.kind = kind;
    info.mtime_ns = info.ctime_ns = ++ticks_;
    info.owner = ::geteuid();
    info.mode = mode;
    return info;
  }
  const Node* node_at(const Path& path) const {
    const auto found = nodes_.find(path.string());
    return found == nodes_.end() ? nullptr : &found->second;
  }
  std::optional<base::FileInfo> info_of(const Path& path) const {
    const Node* node = node_at(path);
    return node == nullptr ? std::nullopt : std::optional(node->info);
  }
  bool is_folder(const Path& path) const {
    const Node* node = node_at(path);
    return node != nullptr && node->info.kind == base::FileKind::kFolder;
  }
  bool has_children(const std::string& path) const {
    const auto next = nodes_.lower_bound(path + "/");
    return next != nodes_.end() && next->first.starts_with(path + "/");
  }

  // Follows links in `path` (in its last part only when `last`); at most 40 of them.
  Path resolve(const Path& path, bool last) const {
    Path pending = path.lexically_normal();
    for (int links = 0; links < 40; ++links) {
      Path reached = "/";
      bool followed = false;
      const Path parts = pending.relative_path();
      for (auto part = parts.begin(); part != parts.end() && !followed; ++part) {
        if (part->empty()) continue;
        const Path next = reached / *part;
        const bool final = std::next(part) == parts.end();
        const Node* node = node_at(next);
        if (node != nullptr && node->info.kind == base::FileKind::kLink && (last || !final)) {
          Path target = reached / node->content;
          for (auto rest = std::next(part); rest != parts.end(); ++rest) target /= *rest;
          pending = target.lexically_normal();
          followed = true;
        }
        reached = next;
      }
      if (!followed) return reached;
    }
    return "/too-many-links";
  }

  Result<std::unique_ptr<base::FileWriter>> open(const Path& path, bool empty) {
    const std::lock_guard lock(mutex_);
    const Path found = resolve(path, true);
    if (!is_folder(found.parent_path()) || is_folder(found)) return error("open", path);
    const auto [at, added] = nodes_.try_emplace(found.string());
    Node& node = at->second;
    if (added) node.info = new_info(base::FileKind::kFile, 0644);
    if (empty) node.content.clear();
    node.info.size_bytes = node.content.size();
    node.info.mtime_ns = node.info.ctime_ns = ++ticks_;
    return std::unique_ptr<base::FileWriter>(std::make_unique<Writer>(*this, found.string()));
  }

  std::mutex mutex_;
  std::map<std::string, Node> nodes_;
  std::set<std::string> locked_;
  std::int64_t ticks_ = 0;
};

}  // namespace layard::testing
