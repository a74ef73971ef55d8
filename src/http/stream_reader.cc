#include "http/stream_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/checks.h"

namespace layard::http {

void StreamReader::consume(std::size_t count) noexcept {
  begin_ += std::min(count, end_ - begin_);
  if (begin_ == end_ && !reading_) begin_ = end_ = 0;
}

// The buffer must not move while a read is under way.
bool StreamReader::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == 0 && buffer_.size() > kBufferBytesMin && last_read_small_) {
    buffer_ = std::vector<char>(kBufferBytesMin);
  }
  if (end_ == buffer_.size()) {
    if (end_ >= kBufferBytesMax) return false;
    buffer_.resize(std::clamp(buffer_.size() * 2, kBufferBytesMin, kBufferBytesMax));
  }
  return true;
}

void StreamReader::begin_read() {
  reading_ = true;
  stream_.read_some(std::span(buffer_).subspan(end_), *this);
}

void StreamReader::completed(IoResult result) {
  reading_ = false;
  if (result.status == IoStatus::kOk) {
    last_ = Fill::kData;
    last_read_small_ = result.bytes < kBufferBytesMin;
    end_ += result.bytes;
    on_bytes_(result.bytes);
  } else {
    last_ = result.status == IoStatus::kEnd ? Fill::kEnd : Fill::kFailed;
  }
  if (on_gone_) {
    if (last_ == Fill::kData) {
      if (make_room()) begin_read();
      return;
    }
    const auto gone = std::exchange(on_gone_, nullptr);
    gone();  // the owner may be no more
    return;
  }
  arrived_.set();
}

Task<StreamReader::Fill> StreamReader::fill() {
  if (last_ != Fill::kData) co_return last_;
  if (!reading_) {
    const bool room = make_room();
    LAYARD_CHECK(room);
    begin_read();
  }
  arrived_.reset();
  stopped_ = false;
  co_await arrived_.wait();
  co_return std::exchange(stopped_, false) ? Fill::kStopped : last_;
}

void StreamReader::stop_waiting() {
  if (!arrived_.has_waiter()) return;
  stopped_ = true;
  arrived_.set();
}

void StreamReader::watch(std::function<void()> on_gone) {
  on_gone_ = std::move(on_gone);
  if (!reading_ && last_ == Fill::kData && make_room()) begin_read();
}

Task<void> StreamReader::settle() {
  while (reading_) {
    arrived_.reset();
    co_await arrived_.wait();
  }
}

}  // namespace layard::http
