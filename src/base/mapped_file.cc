#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace layard::base {
namespace {

Error io_error(const std::filesystem::path& path, const std::string& action, int error_number) {
  return {ErrorCode::kIo, "cannot " + action + " '" + path.string() +
                              "': " + std::generic_category().message(error_number)};
}

}  // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::forget_pages() const noexcept {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

Result<ReadOnlyFile> ReadOnlyFile::open(const std::filesystem::path& path) {
  return open(path, Access::kAnybody);
}

Result<ReadOnlyFile> ReadOnlyFile::open_private(const std::filesystem::path& path) {
  return open(path, Access::kThisUserOnly);
}

Result<ReadOnlyFile> ReadOnlyFile::open(const std::filesystem::path& path, Access access) {
  // O_NONBLOCK: a pipe put where a file belongs must not make the reader wait for a writer.
  const int no_links = access == Access::kThisUserOnly ? O_NOFOLLOW : 0;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_links);
  if (descriptor < 0) return io_error(path, "open", errno);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    const int error_number = errno;
    ::close(descriptor);
    return io_error(path, "examine", error_number);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Error{ErrorCode::kIo, "'" + path.string() + "' is not a regular file"};
  }
  const bool is_private = info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (access == Access::kThisUserOnly && !is_private) {
    ::close(descriptor);
    return Error{ErrorCode::kIo, "'" + path.string() + "' is not a file of this user alone (0600)"};
  }
  return ReadOnlyFile(descriptor, static_cast<std::uint64_t>(info.st_size), path);
}

ReadOnlyFile::ReadOnlyFile(ReadOnlyFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      path_(std::move(other.path_)) {}

ReadOnlyFile& ReadOnlyFile::operator=(ReadOnlyFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(path_, other.path_);
  return *this;
}

ReadOnlyFile::~ReadOnlyFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ReadOnlyFile::is_same_file(int descriptor) const {
  struct stat here {};
  struct stat there {};
  return ::fstat(descriptor_, &here) == 0 && ::fstat(descriptor, &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

Status ReadOnlyFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path_, "read", errno);
    if (got == 0) {
      return Error{ErrorCode::kIo, "'" + path_.string() + "' ends at byte " +
                                       std::to_string(offset + done) + " while it is being read"};
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

Result<MappedFile> ReadOnlyFile::map() const {
  if (size_bytes_ == 0) return MappedFile();
  if (size_bytes_ > std::numeric_limits<std::size_t>::max()) {
    return Error{ErrorCode::kIo, "'" + path_.string() + "' is too large for this machine"};
  }
  const auto size = static_cast<std::size_t>(size_bytes_);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (data == MAP_FAILED) return io_error(path_, "map", errno);
  MappedFile mapped(static_cast<const std::byte*>(data), size);
  // What is missing by now would end the process at its first use.
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) return io_error(path_, "examine", errno);
  if (static_cast<std::uint64_t>(info.st_size) < size_bytes_) {
    return Error{ErrorCode::kIo, "'" + path_.string() + "' became shorter while it was opened: " +
                                     std::to_string(info.st_size) + " of " +
                                     std::to_string(size_bytes_) +
                                     " bytes are left; replace files by rename and try again"};
  }
  return mapped;
}

Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t bytes_max) {
  LAYARD_ASSIGN(const ReadOnlyFile file, ReadOnlyFile::open(path));
  return read_text_file(file, bytes_max);
}

Result<std::string> read_text_file(const ReadOnlyFile& file, std::uint64_t bytes_max) {
  if (file.size_bytes() > bytes_max) {
    return Error{ErrorCode::kArtifactIntegrity,
                 "'" + file.path().string() + "' has " + std::to_string(file.size_bytes()) +
                     " bytes, more than the " + std::to_string(bytes_max) + " allowed for it"};
  }
  std::string text(static_cast<std::size_t>(file.size_bytes()), '\0');
  LAYARD_TRY(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

}  // namespace layard::base
