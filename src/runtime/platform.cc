#include "runtime/platform.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace layard::runtime {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{4} << 20U;
constexpr std::string_view kUnknown = "unknown";
constexpr const char* kProcessors = "/proc/cpuinfo";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\"").find(text.front()) != text.npos) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::string_view(" \t\"").find(text.back()) != text.npos) {
    text.remove_suffix(1);
  }
  return text;
}

std::string two_digits(unsigned value) { return (value < 10 ? "0" : "") + std::to_string(value); }

// Files below /proc have no size, so they are read until they end.
std::string read_to_end(const char* path) {
  std::string text;
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return text;
  std::array<char, 16384> part{};
  while (text.size() < kFileBytesMax) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return text;
}

}  // namespace

std::string file_field(const char* path, std::string_view key, char separator) {
  const std::string content = read_to_end(path);
  std::size_t at = 0;
  while (at < content.size()) {
    const std::size_t end = std::min(content.find('\n', at), content.size());
    const std::string_view line = std::string_view(content).substr(at, end - at);
    const std::size_t split = line.find(separator);
    if (split != std::string_view::npos && trimmed(line.substr(0, split)) == key) {
      return std::string(trimmed(line.substr(split + 1)));
    }
    at = end + 1;
  }
  return std::string(kUnknown);
}

std::string processor_name() {
  const auto field = [](std::string_view key) { return file_field(kProcessors, key, ':'); };
  const std::string name = field("model name");
  if (name != kUnknown) {
    return name + " (family " + field("cpu family") + ", model " + field("model") + ", stepping " +
           field("stepping") + ")";
  }
  const std::string part = field("CPU part");  // Arm has numbers only
  if (part == kUnknown) return part;
  return "implementer " + field("CPU implementer") + ", part " + part + ", variant " +
         field("CPU variant") + ", revision " + field("CPU revision");
}

std::string utc_date() {
  // tidy: allow(Banned): base/clock.h knows no calendar, and nothing waits on this date
  const auto now = std::chrono::system_clock::now();
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  return std::to_string(static_cast<int>(day.year())) + "-" +
         two_digits(static_cast<unsigned>(day.month())) + "-" +
         two_digits(static_cast<unsigned>(day.day()));
}

}  // namespace layard::runtime
