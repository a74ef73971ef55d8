#include "base/filesystem.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/mapped_file.h"

namespace layard::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 100'000;

Error io_error(std::string_view action, const fs::path& path, int error_number) {
  return {ErrorCode::kIo, "cannot " + std::string(action) + " '" + path.string() +
                              "': " + std::generic_category().message(error_number)};
}

Error io_error(std::string_view action, const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kIo,
          "cannot " + std::string(action) + " '" + path.string() + "': " + error.message()};
}

// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

class RealWriter final : public FileWriter {
 public:
  RealWriter(int descriptor, fs::path path) : descriptor_(descriptor), path_(std::move(path)) {}

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return io_error("write", path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }
  Status sync() override {
    return ::fsync(descriptor_.get()) == 0 ? Status() : io_error("sync", path_, errno);
  }
  Status close() override {
    const int descriptor = descriptor_.release();
    if (descriptor < 0) return {};
    return ::close(descriptor) == 0 ? Status() : io_error("close", path_, errno);
  }

 private:
  Descriptor descriptor_;
  fs::path path_;
};

class RealLock final : public FileLock {
 public:
  explicit RealLock(int descriptor) : descriptor_(descriptor) {}

 private:
  Descriptor descriptor_;  // closing it gives the lock back
};

FileInfo to_info(const struct stat& raw) {
  FileInfo info;
  info.kind = S_ISREG(raw.st_mode)   ? FileKind::kFile
              : S_ISDIR(raw.st_mode) ? FileKind::kFolder
              : S_ISLNK(raw.st_mode) ? FileKind::kLink
                                     : FileKind::kOther;
  info.size_bytes = static_cast<std::uint64_t>(raw.st_size);
  info.mtime_ns = std::int64_t{raw.st_mtim.tv_sec} * 1'000'000'000 + raw.st_mtim.tv_nsec;
  info.ctime_ns = std::int64_t{raw.st_ctim.tv_sec} * 1'000'000'000 + raw.st_ctim.tv_nsec;
  info.inode = raw.st_ino;
  info.owner = raw.st_uid;
  info.mode = raw.st_mode & 07777U;
  return info;
}

class RealFilesystem final : public Filesystem {
 public:
  Result<std::optional<FileInfo>> stat(const fs::path& path) override {
    struct stat raw {};
    return finish_stat(::stat(path.c_str(), &raw), raw, path);
  }
  Result<std::optional<FileInfo>> link_stat(const fs::path& path) override {
    struct stat raw {};
    return finish_stat(::lstat(path.c_str(), &raw), raw, path);
  }
  Result<fs::path> canonical(const fs::path& path) override {
    std::error_code error;
    fs::path resolved = fs::canonical(path, error);
    if (error) return io_error("resolve", path, error);
    return resolved;
  }
  Result<std::string> read_text(const fs::path& path, std::uint64_t bytes_max) override {
    auto text = read_text_file(path, bytes_max);
    if (!text.ok()) return Error{ErrorCode::kIo, text.error().message};
    return text;
  }
  Result<std::string> read_private_text(const fs::path& path, std::uint64_t bytes_max) override {
    LAYARD_ASSIGN(const auto folder, link_stat(path.parent_path()));
    if (!folder || folder->kind != FileKind::kFolder || !is_private(*folder)) {
      return Error{ErrorCode::kIo, "'" + path.parent_path().string() +
                                       "' is not a folder of this user alone (0700)"};
    }
    LAYARD_ASSIGN(const ReadOnlyFile file, ReadOnlyFile::open_private(path));
    auto text = read_text_file(file, bytes_max);
    if (!text.ok()) return Error{ErrorCode::kIo, text.error().message};
    return text;
  }
  Result<std::vector<std::string>> list(const fs::path& folder) override {
    std::vector<std::string> names;
    bool fits = true;
    LAYARD_TRY(visit_names(folder, [&](const std::string& name) {
      fits = names.size() < kEntriesMax;
      if (fits) names.push_back(name);
      return fits;
    }));
    if (!fits) {
      return Error{ErrorCode::kIo, "'" + folder.string() +
                                       "' has more than 100000 entries; remove those that do not "
                                       "belong there"};
    }
    std::ranges::sort(names);
    return names;
  }

  Result<std::unique_ptr<FileWriter>> create(const fs::path& path) override {
    return open_writer(path, O_TRUNC);
  }
  Result<std::unique_ptr<FileWriter>> create_private(const fs::path& path) override {
    LAYARD_TRY(remove(path));
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int descriptor = ::open(path.c_str(), flags, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return io_error("make", path, errno);
    auto writer = std::make_unique<RealWriter>(descriptor, path);
    // A umask may have taken the user's own rights.
    if (::fchmod(descriptor, S_IRUSR | S_IWUSR) != 0)
      return io_error("set the mode of", path, errno);
    return std::unique_ptr<FileWriter>(std::move(writer));
  }
  Result<std::unique_ptr<FileWriter>> open_append(const fs::path& path) override {
    return open_writer(path, O_APPEND);
  }
  Status make_folders(const fs::path& folder) override {
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? Status(io_error("make folder", folder, error)) : Status();
  }
  Status make_private_folder(const fs::path& folder) override {
    if (folder.has_parent_path()) LAYARD_TRY(make_folders(folder.parent_path()));
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return io_error("make folder", folder, errno);
    }
    LAYARD_ASSIGN(const auto info, link_stat(folder));
    if (info && info->kind == FileKind::kFolder && is_private(*info)) return {};
    return Error{ErrorCode::kIo, "'" + folder.string() +
                                     "' must be a folder of this user with mode 0700; change its "
                                     "mode or remove it"};
  }
  Status rename(const fs::path& from, const fs::path& to) override {
    std::error_code error;
    fs::rename(from, to, error);
    return error ? Status(io_error("rename '" + from.string() + "' to", to, error)) : Status();
  }
  Status make_link(const fs::path& target, const fs::path& link) override {
    std::error_code error;
    fs::create_symlink(target, link, error);
    return error ? Status(io_error("make link", link, error)) : Status();
  }
  Status remove(const fs::path& path) override {
    std::error_code error;
    fs::remove(path, error);
    return error ? Status(io_error("remove", path, error)) : Status();
  }
  Status sync_folder(const fs::path& folder) override {
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() < 0) return io_error("open folder", folder, errno);
    // Some filesystems cannot sync a folder and say EINVAL; their renames are as safe as they get.
    if (::fsync(descriptor.get()) != 0 && errno != EINVAL) return io_error("sync", folder, errno);
    return {};
  }

  Result<std::uint64_t> free_bytes(const fs::path& folder) override {
    struct statvfs raw {};
    if (::statvfs(folder.c_str(), &raw) != 0) return io_error("examine", folder, errno);
    return static_cast<std::uint64_t>(raw.f_bavail) * static_cast<std::uint64_t>(raw.f_frsize);
  }
  Result<std::unique_ptr<FileLock>> try_lock(const fs::path& path) override {
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (descriptor.get() < 0) return io_error("open lock", path, errno);
    int result = 0;
    do {
      result = ::flock(descriptor.get(), LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno == EWOULDBLOCK) return std::unique_ptr<FileLock>();
    if (result != 0) return io_error("lock", path, errno);
    return std::unique_ptr<FileLock>(std::make_unique<RealLock>(descriptor.release()));
  }

 private:
  static Result<std::optional<FileInfo>> finish_stat(int result, const struct stat& raw,
                                                     const fs::path& path) {
    if (result == 0) return std::optional(to_info(raw));
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<FileInfo>();
    return io_error("examine", path, errno);
  }

  static Result<std::unique_ptr<FileWriter>> open_writer(const fs::path& path, int flags) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
    if (descriptor < 0) return io_error("open for writing", path, errno);
    return std::unique_ptr<FileWriter>(std::make_unique<RealWriter>(descriptor, path));
  }
};

enum class Readers : std::uint8_t { kByUmask, kOwner };

Status write_and_close(Filesystem& files, const fs::path& path, std::string_view text,
                       Readers readers) {
  LAYARD_ASSIGN(auto writer,
                readers == Readers::kOwner ? files.create_private(path) : files.create(path));
  LAYARD_TRY(writer->write(std::as_bytes(std::span(text))));
  LAYARD_TRY(writer->sync());
  return writer->close();
}

Status write_and_rename(Filesystem& files, const fs::path& path, std::string_view text,
                        Readers readers) {
  // Process and number keep writers apart; each writes a whole file, the later rename wins.
  static std::atomic<std::uint64_t> number{0};
  const fs::path beside =
      path.string() + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
  Status status = write_and_close(files, beside, text, readers);
  if (status.ok()) status = files.rename(beside, path);
  if (!status.ok()) {
    // The first error is the one to report.
    (void)files.remove(beside);
  }
  return status;
}

}  // namespace

bool is_private(const FileInfo& info) {
  return info.owner == ::geteuid() && (info.mode & 077U) == 0;
}

Status visit_names(const fs::path& folder, const std::function<bool(const std::string&)>& visit) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!visit(entry->path().filename().string())) return {};
  }
  return error ? Status(io_error("list", folder, error)) : Status();
}

void mark_used(const fs::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

Filesystem& real_filesystem() {
  static RealFilesystem files;  // has no state, so sharing it is safe
  return files;
}

Status write_atomically(Filesystem& files, const fs::path& path, std::string_view text) {
  return write_and_rename(files, path, text, Readers::kByUmask);
}

Status write_private_atomically(Filesystem& files, const fs::path& path, std::string_view text) {
  return write_and_rename(files, path, text, Readers::kOwner);
}

}  // namespace layard::base
