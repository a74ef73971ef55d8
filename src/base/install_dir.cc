#include "base/install_dir.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

namespace layard::base {

std::filesystem::path mapped_file(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  // A line: `begin-end rights offset device inode      /the/file`, numbers in hexadecimal.
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const char* stop = line.data() + line.size();
    const auto first = std::from_chars(line.data(), stop, begin, 16);
    if (first.ec != std::errc() || first.ptr == stop) continue;
    std::from_chars(first.ptr + 1, stop, end, 16);
    if (wanted < begin || wanted >= end) continue;
    const std::size_t path = line.find('/');
    return path == std::string::npos ? "" : line.substr(path);
  }
  return {};
}

std::filesystem::path install_dir() {
  const auto* here = reinterpret_cast<const void*>(&install_dir);
  Dl_info info{};
  std::filesystem::path file;
  if (dladdr(here, &info) != 0 && info.dli_fname != nullptr) file = info.dli_fname;
  // A program started by a bare name and a library found through a relative LD_LIBRARY_PATH are
  // reported by that name, and the working directory may be another one since; the kernel knows
  // the file.
  if (!file.is_absolute()) file = mapped_file(here);
  std::error_code error;
  file = std::filesystem::canonical(file, error);
  return error ? std::filesystem::path() : file.parent_path();
}

}  // namespace layard::base
