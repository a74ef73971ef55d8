/// What the handlers need of a decision service, so that they can be tested without a model.
/// Source: none; ours.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "layard/service.h"

namespace layard::server {

/// As DecisionService, call for call. Thread-safety: all calls may come from any thread.
class Decider {
 public:
  using Ticket = DecisionService::Ticket;
  using Done = DecisionService::Done;

  virtual ~Decider() = default;
  virtual Ticket submit(ServiceRequest request, Done done) = 0;
  virtual void cancel(Ticket ticket) = 0;
  virtual bool has_room() const = 0;
  virtual std::int64_t retry_after_ms() const = 0;
  virtual Result<Route> route(const Request& request) const = 0;
  virtual std::vector<ServedModel> models() const = 0;
  virtual bool is_ready() const = 0;
  virtual ServiceStats stats() const = 0;
};

/// `service` must outlive it.
std::unique_ptr<Decider> decider_of(DecisionService& service);

}  // namespace layard::server
