#include "gateway/guard.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "gateway/child_spec.h"
#include "gateway/guard_loop.h"

namespace layard::gateway {
namespace {

Error refused(const std::string& message) {
  return {ErrorCode::kInvalidRequest, std::string(kGuardCommand) + ": " + message};
}

std::optional<std::int64_t> number(std::string_view text, std::int64_t max) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0 || value > max) return std::nullopt;
  return value;
}

Status read_option(const std::string& name, const std::string& value, GuardOptions& options) {
  constexpr std::int64_t kFdMax = 1 << 20;
  if (name == "--cwd") {
    options.cwd = value;
    return {};
  }
  const bool is_fd = name == "--control-fd";
  if (!is_fd && name != "--stop-ms") return refused("'" + name + "' is no option of it");
  const auto read = number(value, is_fd ? kFdMax : kStopMsMax);
  if (!read) return refused(name + " is '" + value + "', which is no number it can have");
  if (is_fd) {
    options.control_fd = static_cast<int>(*read);
  } else {
    options.stop_ms = *read;
  }
  return {};
}

}  // namespace

std::vector<std::string> write_guard_arguments(const GuardOptions& options) {
  std::vector<std::string> out = {std::string(kGuardCommand), "--control-fd",
                                  std::to_string(options.control_fd), "--stop-ms",
                                  std::to_string(options.stop_ms)};
  if (!options.cwd.empty()) out.insert(out.end(), {"--cwd", options.cwd});
  out.emplace_back("--");
  out.insert(out.end(), options.argv.begin(), options.argv.end());
  return out;
}

Result<GuardOptions> read_guard_arguments(std::span<const std::string> arguments) {
  GuardOptions options;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at] != "--"; at += 2) {
    if (at + 1 == arguments.size()) return refused("'" + arguments[at] + "' needs a value");
    LAYARD_TRY(read_option(arguments[at], arguments[at + 1], options));
  }
  if (options.control_fd < 0) {
    return refused("--control-fd is missing; the gateway starts this command, not a person");
  }
  if (at + 1 >= arguments.size()) return refused("there is no command behind '--'");
  options.argv.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
  return options;
}

Status run_guard(const GuardOptions& options) {
  GuardLoop loop(options);
  LAYARD_TRY(loop.prepare());
  if (loop.start_command()) loop.watch();
  return {};
}

}  // namespace layard::gateway
