#include "backends/cpu/cpu_count.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace layard::backends::cpu {
namespace {

using std::filesystem::path;

// These files have no size, so they are read until they end; 16 KiB is far beyond any of them.
std::string read_small(const path& file) {
  std::string text;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return text;
  std::array<char, 4096> part{};
  while (text.size() < 16384) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return text;
}

// The next word of `text`, which is shortened.
std::string_view word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  text.remove_prefix(begin);
  const std::string_view found = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(found.size());
  return found;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Processors a quota allows, or nothing for "max", -1 and nonsense.
std::optional<double> processors(std::string_view quota, std::string_view period) {
  const std::optional<double> q = number(quota);
  const std::optional<double> p = number(period);
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  return *q / *p;
}

std::optional<double> quota_of(const path& group) {
  const std::string v2 = read_small(group / "cpu.max");
  if (!v2.empty()) {
    std::string_view rest = v2;
    const std::string_view quota = word(rest);
    return processors(quota, word(rest));
  }
  const std::string quota_text = read_small(group / "cpu.cfs_quota_us");
  const std::string period_text = read_small(group / "cpu.cfs_period_us");
  std::string_view quota = quota_text;
  std::string_view period = period_text;
  return processors(word(quota), word(period));
}

// The tightest quota of `group` and the groups above it, below `top`.
double tightest(const path& top, std::string_view group, double limit) {
  path current = path(group).relative_path().lexically_normal();
  if (current == ".") current.clear();
  if (!current.empty() && *current.begin() == "..") return limit;
  for (int depth = 0; depth < 64; ++depth) {
    if (const std::optional<double> quota = quota_of(top / current)) {
      limit = std::min(limit, *quota);
    }
    if (current.empty()) break;
    current = current.parent_path();
  }
  return limit;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "cpu") return true;
    controllers.remove_prefix(std::min(name.size() + 1, controllers.size()));
  }
  return false;
}

}  // namespace

int cpu_count(const path& root, int affinity) {
  double limit = affinity;
  const path groups = root / "sys/fs/cgroup";
  const std::string text = read_small(root / "proc/self/cgroup");
  std::string_view rest = text;
  while (!rest.empty()) {  // lines `number:controllers:/group`; v2 is `0::/group`
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    if (controllers.empty()) {
      limit = tightest(groups, group, limit);
      limit = tightest(groups / "unified", group, limit);
    } else if (names_cpu(controllers)) {
      limit = tightest(groups / controllers, group, limit);
      limit = tightest(groups / "cpu", group, limit);
    }
  }
  return std::max(1, static_cast<int>(std::lround(limit)));
}

int cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int affinity = 0;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) affinity = CPU_COUNT(&set);
  if (affinity < 1) affinity = static_cast<int>(std::thread::hardware_concurrency());
  return cpu_count("/", std::max(1, affinity));
}

}  // namespace layard::backends::cpu
