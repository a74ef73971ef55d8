#include "server/ask_all.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace layard::server {
namespace {

using Answers = std::vector<ServiceAnswer>;

class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  Gathering(Decider& decider, std::size_t count, std::function<void(Result<Answers>)> done)
      : decider_(decider), answers_(count), left_(count), done_(std::move(done)) {}

  void start(std::vector<ServiceRequest> requests, const std::stop_token& cancelled) {
    for (std::size_t i = 0; i < requests.size() && !is_over(); ++i) {
      const Decider::Ticket ticket = decider_.submit(
          std::move(requests[i]), [self = shared_from_this(), i](Result<ServiceAnswer> answer) {
            self->take(i, std::move(answer));
          });
      if (!keep(ticket)) decider_.cancel(ticket);
    }
    if (is_over()) return;
    on_cancel_.emplace(cancelled, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end(Error{ErrorCode::kCancelled, "cancelled"});
    });
  }

 private:
  bool is_over() {
    const std::lock_guard lock(mutex_);
    return over_;
  }

  // False when nobody waits for it any more.
  bool keep(Decider::Ticket ticket) {
    const std::lock_guard lock(mutex_);
    if (!over_) tickets_.push_back(ticket);
    return !over_;
  }

  void take(std::size_t index, Result<ServiceAnswer> answer) {
    if (!answer.ok()) {
      end(std::move(answer).error());
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      if (over_) return;
      answers_[index] = *std::move(answer);
      if (--left_ > 0) return;
      over_ = true;
    }
    done_(std::move(answers_));
  }

  void end(Error error) {
    std::vector<Decider::Ticket> tickets;
    {
      const std::lock_guard lock(mutex_);
      if (over_) return;
      over_ = true;
      tickets = std::move(tickets_);
    }
    for (const Decider::Ticket ticket : tickets) decider_.cancel(ticket);
    done_(std::move(error));
  }

  Decider& decider_;
  std::mutex mutex_;
  // Guarded by mutex_ until over_; then the thread that set it has the answers to itself:
  Answers answers_;
  std::size_t left_;
  std::vector<Decider::Ticket> tickets_;
  bool over_ = false;

  const std::function<void(Result<Answers>)> done_;
  // Set once by start(), which holds the object meanwhile; destroyed with it.
  std::optional<std::stop_callback<std::function<void()>>> on_cancel_;
};

}  // namespace

void ask_all(Decider& decider, std::vector<ServiceRequest> requests,
             const std::stop_token& cancelled, std::function<void(Result<Answers>)> done) {
  if (requests.empty()) {
    done(Answers());
    return;
  }
  const std::size_t count = requests.size();
  std::make_shared<Gathering>(decider, count, std::move(done))
      ->start(std::move(requests), cancelled);
}

}  // namespace layard::server
