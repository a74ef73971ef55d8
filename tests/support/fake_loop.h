/// A loop, streams and time that a test moves by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/loop.h"

namespace layard::testing {

/// Thread-safety: post() from any thread, everything else from the test's.
class FakeLoop final : public http::Loop {
 public:
  void post(std::function<void()> call) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  void call_after(std::int64_t wait_ms, std::function<void()> call) override {
    timers_.emplace(now_ns_ + wait_ms * 1'000'000, std::move(call));
  }
  std::int64_t now_ns() const override { return now_ns_; }

  /// Runs what was posted, and what that posts; returns how many calls ran.
  std::size_t run() {
    std::size_t ran = 0;
    while (auto call = next_call()) {
      (*call)();
      ++ran;
    }
    return ran;
  }

  /// Lets time pass, running timers and calls in between.
  void advance_ms(std::int64_t wait_ms) {
    const std::int64_t until = now_ns_ + wait_ms * 1'000'000;
    run();
    while (!timers_.empty() && timers_.begin()->first <= until) {
      auto timer = timers_.extract(timers_.begin());
      now_ns_ = std::max(now_ns_, timer.key());
      timer.mapped()();
      run();
    }
    now_ns_ = until;
  }
  std::size_t timer_count() const { return timers_.size(); }

 private:
  std::optional<std::function<void()>> next_call() {
    const std::lock_guard lock(mutex_);
    if (calls_.empty()) return std::nullopt;
    auto call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

  std::mutex mutex_;
  std::deque<std::function<void()>> calls_;
  std::multimap<std::int64_t, std::function<void()>> timers_;
  std::int64_t now_ns_ = 1'000'000'000;
};

/// What the client did and what it got; outlives the stream it stands behind.
struct FakeWire {
  std::string incoming;        // sent by the client, not yet read
  bool client_closed = false;  // after `incoming`
  bool client_reset = false;
  std::size_t window_bytes = static_cast<std::size_t>(-1);  // how much the client still takes
  std::size_t piece_bytes_max = 1 << 20;                    // per read and per write
  std::string sent;                                         // to the client
  bool send_shut = false;
  bool closed = false;
  std::function<void()> poke;  // set while a stream is there: notices what changed
};

class FakeStream final : public http::Stream {
 public:
  FakeStream(FakeLoop& loop, std::shared_ptr<FakeWire> wire) : loop_(loop), wire_(std::move(wire)) {
    wire_->poke = [this] { poll(); };
  }
  ~FakeStream() override {
    *alive_ = false;
    wire_->poke = nullptr;
  }

  void read_some(std::span<char> into, http::IoCompletion& done) override {
    into_ = into;
    reading_ = &done;
    poll();
  }
  void write_some(std::string_view bytes, http::IoCompletion& done) override {
    bytes_ = bytes;
    writing_ = &done;
    poll();
  }
  void shutdown_send() override { wire_->send_shut = true; }
  void close() override {
    wire_->closed = true;
    poll();
  }
  std::string peer_address() const override { return "192.0.2.7"; }
  bool peer_is_loopback() const override { return false; }

  /// Completes what can be completed; to be called after the wire changed.
  void poll() {
    loop_.post([this, alive = alive_] {
      if (*alive) complete_read();
    });
    loop_.post([this, alive = alive_] {
      if (*alive) complete_write();
    });
  }

 private:
  void complete_read() {
    if (reading_ == nullptr) return;
    http::IoResult result;
    if (wire_->closed || wire_->client_reset) {
      result.status = http::IoStatus::kFailed;
    } else if (!wire_->incoming.empty()) {
      result.bytes = std::min({wire_->incoming.size(), into_.size(), wire_->piece_bytes_max});
      std::copy_n(wire_->incoming.begin(), result.bytes, into_.begin());
      wire_->incoming.erase(0, result.bytes);
    } else if (wire_->client_closed) {
      result.status = http::IoStatus::kEnd;
    } else {
      return;
    }
    std::exchange(reading_, nullptr)->completed(result);
  }

  void complete_write() {
    if (writing_ == nullptr) return;
    http::IoResult result;
    if (wire_->closed || wire_->client_reset) {
      result.status = http::IoStatus::kFailed;
    } else if (wire_->window_bytes > 0) {
      result.bytes = std::min({bytes_.size(), wire_->piece_bytes_max, wire_->window_bytes});
      wire_->window_bytes -= result.bytes;
      wire_->sent.append(bytes_.substr(0, result.bytes));
    } else {
      return;
    }
    std::exchange(writing_, nullptr)->completed(result);
  }

  FakeLoop& loop_;
  std::shared_ptr<FakeWire> wire_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::span<char> into_;
  std::string_view bytes_;
  http::IoCompletion* reading_ = nullptr;
  http::IoCompletion* writing_ = nullptr;
};

}  // namespace layard::testing
