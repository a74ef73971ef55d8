#include "base/install_dir.h"

#include <dlfcn.h>

#include <system_error>

namespace layard::base {

std::filesystem::path install_dir() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&install_dir), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  // A program started by a bare name is reported by that name; the kernel knows its file.
  std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  if (error || std::filesystem::path(info.dli_fname).is_relative()) {
    file = std::filesystem::canonical("/proc/self/exe", error);
  }
  return error ? std::filesystem::path() : file.parent_path();
}

}  // namespace layard::base
