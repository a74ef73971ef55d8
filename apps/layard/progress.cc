#include "progress.h"

#include <unistd.h>

#include <iostream>

namespace layard::cli {

Progress::Progress(std::string label)
    : label_(std::move(label)), enabled_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::set_label(std::string_view label) { label_ = label; }

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && done != total && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  std::cerr << "\r\033[K" << label_ << ' ';
  if (total == 0) {
    std::cerr << done << std::flush;
    return;
  }
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t filled = kWidth * done / total;
  std::cerr << '[' << std::string(filled, '#') << std::string(kWidth - filled, '.') << "] "
            << 100 * done / total << "%" << std::flush;
}

}  // namespace layard::cli
