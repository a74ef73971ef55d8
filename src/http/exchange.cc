#include "http/exchange.h"

#include <algorithm>
#include <utility>

namespace layard::http {

void Exchange::wake_locked() {
  if (wake_posted_ || loop_ == nullptr) return;
  wake_posted_ = true;
  loop_->post([self = shared_from_this()] { self->wake(); });
}

void Exchange::wake() {
  {
    const std::lock_guard lock(mutex_);
    wake_posted_ = false;
    if (loop_ == nullptr) return;
  }
  signal_.set();
}

void Exchange::send(Response response) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) return;
  phase_ = Phase::kOver;
  batch_.whole = std::move(response);
  wake_locked();
}

void Exchange::start(Response head) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) return;
  phase_ = Phase::kStreaming;
  batch_.head = std::move(head);
  wake_locked();
}

WriteStatus Exchange::write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kStreaming || loop_ == nullptr) return WriteStatus::kGone;
  const std::size_t queued = batch_.bytes.size() + bytes_in_flight_;
  if (queued > 0 && bytes.size() > queue_bytes_max_ - std::min(queued, queue_bytes_max_)) {
    return WriteStatus::kFull;
  }
  batch_.bytes.append(bytes);
  if (!bytes.empty()) wake_locked();
  return WriteStatus::kAccepted;
}

void Exchange::on_writable(std::function<void()> callback) {
  std::function<void()> replaced;  // destroyed outside the lock, like whatever it holds
  {
    const std::lock_guard lock(mutex_);
    if (loop_ != nullptr && phase_ == Phase::kStreaming) {
      if (batch_.bytes.empty() && bytes_in_flight_ == 0) {
        loop_->post(std::move(callback));
        return;
      }
      replaced = std::exchange(writable_, std::move(callback));
      return;
    }
  }
  callback();
}

void Exchange::finish() {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kStreaming) return;
  phase_ = Phase::kOver;
  batch_.finished = true;
  wake_locked();
}

void Exchange::cut() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kOver) return;
  phase_ = Phase::kOver;
  batch_.cut = true;
  wake_locked();
}

void Exchange::abandon() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kOver) return;
  (phase_ == Phase::kStreaming ? batch_.cut : batch_.abandoned) = true;
  phase_ = Phase::kOver;
  wake_locked();
}

Exchange::Batch Exchange::take() {
  const std::lock_guard lock(mutex_);
  bytes_in_flight_ += batch_.bytes.size();
  return std::exchange(batch_, {});
}

void Exchange::written() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    bytes_in_flight_ = 0;
    if (batch_.bytes.empty()) callback = std::exchange(writable_, nullptr);
  }
  if (callback) callback();
}

void Exchange::leave(bool cancel) {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
    phase_ = Phase::kOver;
    callback = std::exchange(writable_, nullptr);
  }
  if (std::exchange(left_, true)) return;
  // From here on the connection may end, and with it what it holds of this exchange.
  const auto self = shared_from_this();
  if (cancel) stop_.request_stop();
  if (callback) callback();
  signal_.set();
}

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
Responder::Responder(Responder&&) noexcept = default;

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    if (exchange_) exchange_->abandon();
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

Responder::~Responder() {
  if (exchange_) exchange_->abandon();
}

const std::stop_token& Responder::cancelled() const { return exchange_->cancelled(); }
void Responder::send(Response response) { exchange_->send(std::move(response)); }
void Responder::start(Response head) { exchange_->start(std::move(head)); }
WriteStatus Responder::write(std::string_view bytes) { return exchange_->write(bytes); }
void Responder::on_writable(std::function<void()> callback) {
  exchange_->on_writable(std::move(callback));
}
void Responder::finish() { exchange_->finish(); }
void Responder::cut() { exchange_->cut(); }

}  // namespace layard::http
