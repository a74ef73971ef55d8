#include "gateway/output_ring.h"

#include <algorithm>

#include "base/checks.h"

namespace layard::gateway {

OutputRing::OutputRing(std::size_t bytes_max) : bytes_max_(bytes_max) {
  LAYARD_CHECK(bytes_max > 0);
}

void OutputRing::append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  bytes_total_ += bytes.size();
  if (bytes.size() >= bytes_max_) {
    const std::size_t begin = bytes.size() - bytes_max_;
    if (begin > 0) {
      after_line_ = bytes[begin - 1] == '\n';
    } else if (!buffer_.empty()) {
      after_line_ = buffer_[(next_ + buffer_.size() - 1) % buffer_.size()] == '\n';
    }
    buffer_.assign(bytes.substr(begin));
    next_ = 0;
    return;
  }
  const std::size_t free = bytes_max_ - buffer_.size();
  buffer_.append(bytes.substr(0, free));
  bytes.remove_prefix(std::min(free, bytes.size()));
  while (!bytes.empty()) {  // at most twice: up to the end of the buffer, then from its start
    const std::size_t count = std::min(bytes.size(), bytes_max_ - next_);
    after_line_ = buffer_[next_ + count - 1] == '\n';
    bytes.copy(buffer_.data() + next_, count);
    next_ = (next_ + count) % bytes_max_;
    bytes.remove_prefix(count);
  }
}

std::string OutputRing::kept() const {
  std::string out = buffer_.substr(next_);
  out.append(buffer_, 0, next_);
  if (after_line_) return out;
  const std::size_t end = out.find('\n');
  if (end != std::string::npos && end + 1 < out.size()) out.erase(0, end + 1);
  return out;
}

std::string OutputRing::text() const {
  const std::lock_guard lock(mutex_);
  return kept();
}

std::vector<std::string> OutputRing::last_lines(std::size_t count) const {
  std::string all = text();
  if (all.ends_with('\n')) all.pop_back();
  std::vector<std::string> lines;
  while (lines.size() < count && !all.empty()) {
    const std::size_t end = all.rfind('\n');
    lines.push_back(all.substr(end == std::string::npos ? 0 : end + 1));
    if (end == std::string::npos) break;
    all.resize(end);
  }
  std::ranges::reverse(lines);
  return lines;
}

std::uint64_t OutputRing::bytes_total() const {
  const std::lock_guard lock(mutex_);
  return bytes_total_;
}

}  // namespace layard::gateway
