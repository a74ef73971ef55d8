/// A decision service for tests: answers when told to.
/// Source: none; ours.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "server/decider.h"

namespace layard::server {

class FakeDecider final : public Decider {
 public:
  Ticket submit(ServiceRequest request, Done done) override {
    if (before_submit) before_submit();
    Ticket ticket = 0;
    {
      const std::lock_guard lock(mutex);
      ticket = ++last;
      requests.push_back(request);
      waiting.emplace(ticket, std::move(done));
    }
    if (at_once.has_value()) finish(ticket, *at_once);
    return ticket;
  }
  void cancel(Ticket ticket) override {
    finish(ticket, Error{ErrorCode::kCancelled, "the request was cancelled"});
    ++cancelled;
  }
  bool has_room() const override { return room; }
  std::int64_t retry_after_ms() const override { return 1500; }
  Result<Route> route(const Request& request) const override {
    Route route;
    const bool named = request.model == "laya";
    route.checkpoint = named ? "laya" : "starter";
    if (named) route.repo = "convaiinnovations/laya";
    route.reason = named ? "explicit model='english'" : "server default model (--model starter)";
    return route;
  }
  std::vector<ServedModel> models() const override { return served; }
  bool is_ready() const override { return ready; }
  ServiceStats stats() const override { return {}; }

  void finish(Ticket ticket, Result<ServiceAnswer> answer) {
    Done done;
    {
      const std::lock_guard lock(mutex);
      const auto found = waiting.find(ticket);
      if (found == waiting.end()) return;
      done = std::move(found->second);
      waiting.erase(found);
    }
    done(std::move(answer));
  }

  std::mutex mutex;
  Ticket last = 0;
  std::map<Ticket, Done> waiting;
  std::vector<ServiceRequest> requests;
  std::optional<Result<ServiceAnswer>> at_once;
  std::vector<ServedModel> served;
  std::atomic<int> cancelled = 0;
  bool room = true;
  std::function<void()> before_submit;  // may throw
  bool ready = true;
};

}  // namespace layard::server
