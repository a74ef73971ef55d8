#include "server_process.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "table.h"

namespace layard::cli {
namespace {

constexpr std::chrono::seconds kLastWait{3};

}  // namespace

SignalWatch::SignalWatch() {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void SignalWatch::set_stop(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
}

void SignalWatch::set_reload(std::function<void()> reload) {
  const std::lock_guard lock(mutex_);
  reload_ = std::move(reload);
}

bool SignalWatch::reloaded() {
  const std::lock_guard lock(mutex_);
  if (!reload_) return false;
  reload_();
  return true;
}

void SignalWatch::watch(const std::stop_token& stop) {
  std::optional<std::chrono::steady_clock::time_point> end;
  int taken = 0;
  while (!stop.stop_requested()) {
    const timespec wait{0, 100'000'000};
    const int signal = sigtimedwait(&signals_, nullptr, &wait);
    if (end.has_value() && std::chrono::steady_clock::now() > *end) std::_Exit(128 + taken);
    if (signal < 0) continue;
    if (signal == SIGHUP && reloaded()) continue;
    if (taken != 0) end = std::chrono::steady_clock::now() + kLastWait;
    taken = signal;
    const std::lock_guard lock(mutex_);
    if (!stop_) std::_Exit(128 + signal);  // it was still loading
    stop_();
  }
}

void set_server_log(base::LogFormat format, const std::string& level) {
  const bool json = format == base::LogFormat::kJson;
  spdlog::set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                           : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$: %v",
                      spdlog::pattern_time_type::utc);
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::flush_on(spdlog::level::debug);
}

void write_server_line(std::string_view level, std::string_view line) {
  spdlog::log(spdlog::level::from_str(std::string(level)), "{}", printable(line));
}

}  // namespace layard::cli
