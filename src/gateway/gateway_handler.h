/// What is admitted and where it goes: the endpoints of a gateway.
///
/// Order of checks: Host, Origin, path and method, key, content type, limits of the caller; then
/// the body is read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/endpoints.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_loop.h"
#include "gateway/gateway_pages.h"
#include "http/server.h"

namespace layard::gateway {

/// Thread-safety: as http::Handler.
class GatewayHandler final : public http::Handler {
 public:
  /// `reload` reads the policy anew, on a thread that may wait; it returns what was wrong, or
  /// nothing. All must outlive it.
  GatewayHandler(GatewayCore& core, std::function<std::string()> reload);

  http::Admission admit(const http::Request& request) override;
  void handle(http::Request request, http::Responder responder) override;
  http::Response refusal_response(const http::Refusal& refusal, std::string_view path) override;
  void loop_begins(http::SocketLoop& loop) override;
  void loop_ends(http::SocketLoop& loop, std::function<void()> done) override;

  /// Where pages take the counts of connections from; until then they are zero.
  void set_counters(std::function<http::Counters()> counters);
  /// Runs `call` on a loop that runs, with its part of the gateway; false when there is none.
  bool on_some_loop(std::function<void(GatewayLoop&)> call);
  PageInput page_input() const;

 private:
  struct Admitted;

  std::optional<http::Response> refuse(const http::Request& request, Admitted& admitted);
  std::optional<http::Response> refuse_rate(const EndpointMatch& match, Admitted& admitted);
  void forward(http::Request request, http::Responder responder);
  http::Response page(const http::Request& request, const EndpointMatch& match) const;
  void reload(http::Responder responder);
  GatewayLoop* loop_of(const http::Loop* loop);

  GatewayCore& core_;
  std::function<std::string()> reload_;
  const std::int64_t begun_ns_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<const http::Loop*, std::unique_ptr<GatewayLoop>> loops_;
  std::function<http::Counters()> counters_;
};

}  // namespace layard::gateway
