#include "server/decider.h"

#include <utility>

namespace layard::server {
namespace {

class ServiceDecider final : public Decider {
 public:
  explicit ServiceDecider(DecisionService& service) : service_(service) {}

  Ticket submit(ServiceRequest request, Done done) override {
    return service_.submit(std::move(request), std::move(done));
  }
  void cancel(Ticket ticket) override { service_.cancel(ticket); }
  bool has_room() const override { return service_.has_room(); }
  std::int64_t retry_after_ms() const override { return service_.retry_after_ms(); }
  Result<Route> route(const Request& request) const override { return service_.route(request); }
  std::vector<ServedModel> models() const override { return service_.models(); }
  bool is_ready() const override { return service_.is_ready(); }
  ServiceStats stats() const override { return service_.stats(); }

 private:
  DecisionService& service_;
};

}  // namespace

std::unique_ptr<Decider> decider_of(DecisionService& service) {
  return std::make_unique<ServiceDecider>(service);
}

}  // namespace layard::server
