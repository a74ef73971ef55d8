#include "backends/cpu/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "base/filesystem.h"

namespace layard::backends::cpu {
namespace {

namespace fs = std::filesystem;

// A cleaner holds a lock for the time of two system calls; to meet one twice is rare already.
constexpr int kTriesMax = 100;

// Six letters and digits take the place of these (mkostemps).
constexpr std::string_view kTemplate = "XXXXXX";

enum class Lock : std::uint8_t { kHeld, kTaken, kUnsupported };

Lock try_lock(int descriptor) {
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Lock::kHeld;
  return errno == EWOULDBLOCK ? Lock::kTaken : Lock::kUnsupported;
}

// Whether the name leads, without a link, to the regular file that is open.
bool is_at(int descriptor, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         S_ISREG(named.st_mode) && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

bool is_part_name(std::string_view name) {
  if (!name.ends_with(kPartSuffix)) return false;
  name.remove_suffix(kPartSuffix.size());
  const auto is_drawn = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return name.size() == kTemplate.size() && std::ranges::all_of(name, is_drawn);
}

Result<PartFile> PartFile::create(const fs::path& folder) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    std::string name = (folder / (std::string(kTemplate) + std::string(kPartSuffix))).string();
    const int descriptor =
        ::mkostemps(name.data(), static_cast<int>(kPartSuffix.size()), O_CLOEXEC);
    if (descriptor < 0) {
      return Error{ErrorCode::kIo, "cannot make a file in '" + folder.string() +
                                       "': " + std::generic_category().message(errno)};
    }
    // A cleaner that was quicker has removed the name, or is about to.
    if (try_lock(descriptor) != Lock::kTaken && is_at(descriptor, name)) {
      return PartFile(descriptor, name);
    }
    ::close(descriptor);
  }
  return Error{ErrorCode::kIo, "cannot make a file in '" + folder.string() +
                                   "': each new one was removed at once; try again"};
}

PartFile::PartFile(PartFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {
  other.path_.clear();
}

PartFile::~PartFile() {
  // The name goes first: without the lock it would be anybody's.
  if (!path_.empty()) ::unlink(path_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PartFile::name(const fs::path& path) {
  LAYARD_TRY(base::real_filesystem().rename(path_, path));
  path_.clear();
  return {};
}

bool remove_abandoned(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool removed =
      try_lock(descriptor) == Lock::kHeld && is_at(descriptor, path) && ::unlink(path.c_str()) == 0;
  ::close(descriptor);
  return removed;
}

}  // namespace layard::backends::cpu
