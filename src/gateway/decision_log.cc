#include "gateway/decision_log.h"

#include <future>
#include <span>
#include <utility>

namespace layard::gateway {

Result<std::unique_ptr<DecisionLog>> DecisionLog::open(
    base::Filesystem& files, const std::string& path,
    std::function<void(const Error&)> on_failure) {
  LAYARD_ASSIGN(auto file, files.open_append(path));
  return std::unique_ptr<DecisionLog>(new DecisionLog(std::move(file), std::move(on_failure)));
}

DecisionLog::DecisionLog(std::unique_ptr<base::FileWriter> file,
                         std::function<void(const Error&)> on_failure)
    : file_(std::move(file)), on_failure_(std::move(on_failure)) {}

DecisionLog::~DecisionLog() {
  // The thread drops what waits when it is closed, so the last piece is waited for.
  std::promise<void> done;
  thread_.post([&done] { done.set_value(); });
  done.get_future().wait();
  thread_.close();
}

void DecisionLog::write(std::string line) {
  line += '\n';
  const std::size_t bytes = line.size();
  const bool is_many = waiting_.fetch_add(1) >= kWaitingMax;
  if (waiting_bytes_.fetch_add(bytes) + bytes > kWaitingBytesMax || is_many) {
    waiting_bytes_ -= bytes;
    --waiting_;
    ++dropped_;
    return;
  }
  thread_.post([this, line = std::move(line)] {
    append(line);
    waiting_bytes_ -= line.size();
    --waiting_;
  });
}

// A line goes in one write, so that several gateways may share a file.
void DecisionLog::append(const std::string& line) {
  // Of a line that failed a part may be there: this one is not to be its end.
  const std::string text = failing_ ? "\n" + line : line;
  const Status status = file_->write(std::as_bytes(std::span(text)));
  if (status.ok()) {
    ++written_;
    failing_ = false;
    return;
  }
  ++failed_;
  if (!std::exchange(failing_, true) && on_failure_) on_failure_(status.error());
}

DecisionLogCounters DecisionLog::counters() const { return {written_, dropped_, failed_}; }

}  // namespace layard::gateway
