#include "gateway/own_children.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>

#include "base/filesystem.h"
#include "gateway/owned_fd.h"

namespace layard::gateway {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value <= 0) return std::nullopt;
  return value;
}

// Files of /proc say that they have no bytes, so they are not read as others are. All that is
// looked for stands in the first ones.
std::optional<pid_t> parent_of(const std::string& pid) {
  const OwnedFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::array<char, 512> bytes;
  const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
  if (count <= 0) return std::nullopt;
  return parent_in_stat({bytes.data(), static_cast<std::size_t>(count)});
}

}  // namespace

std::optional<pid_t> parent_in_stat(std::string_view stat) {
  // `12 (a (strange) name) S 7 ...`
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string_view fields = stat.substr(name_end + 1);
  if (fields.size() < 4 || fields[0] != ' ' || fields[2] != ' ') return std::nullopt;
  const std::size_t end = fields.find(' ', 3);
  if (end == std::string_view::npos) return std::nullopt;
  return number<pid_t>(fields.substr(3, end - 3));
}

std::vector<pid_t> own_children() {
  const pid_t self = ::getpid();
  std::vector<pid_t> children;
  // Without /proc, or with processes that end meanwhile, what was found is the answer.
  (void)base::visit_names("/proc", [&](const std::string& name) {
    const auto pid = number<pid_t>(name);
    if (!pid) return true;
    if (parent_of(name) == self) children.push_back(*pid);
    return children.size() < kOwnChildrenMax;
  });
  return children;
}

}  // namespace layard::gateway
