/// One write of a stream as something to await.
#pragma once

#include <coroutine>
#include <string_view>

#include "http/loop.h"

namespace layard::http {

/// `co_await WriteSome(stream, bytes)` yields the IoResult. What Stream asks of buffers holds.
class WriteSome final : private IoCompletion {
 public:
  WriteSome(Stream& stream, std::string_view bytes) : stream_(stream), bytes_(bytes) {}
  WriteSome(const WriteSome&) = delete;
  WriteSome& operator=(const WriteSome&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    stream_.write_some(bytes_, *this);
  }
  IoResult await_resume() const noexcept { return result_; }

 private:
  void completed(IoResult result) override {
    result_ = result;
    waiting_.resume();
  }

  Stream& stream_;
  std::string_view bytes_;
  IoResult result_;
  std::coroutine_handle<> waiting_;
};

}  // namespace layard::http
