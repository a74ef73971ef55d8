/// One request of a client, from its body to the last byte of its reply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/chat_request.h"
#include "gateway/decide.h"
#include "gateway/decision_record.h"
#include "gateway/device_order.h"
#include "gateway/gateway_loop.h"
#include "gateway/rate_limit.h"
#include "gateway/reply_relay.h"
#include "gateway/request_body.h"
#include "http/client.h"
#include "http/server.h"
#include "http/task.h"

namespace layard::gateway {

/// What is known of a request before its body is looked at.
struct ForwardStart {
  Api api = Api::kChatCompletions;
  http::Request request;
  std::string request_id;
  std::string caller;
  RateLease lease = {};
  /// What it is served by.
  GatewaySetupPtr setup = nullptr;
  /// A device of it whose `routes` list the path: it is sent the request as it is, and nothing is
  /// read of it.
  std::optional<std::size_t> pass_to = std::nullopt;
};

/// Thread-safety: its loop's thread only. Ownership: its own, until its reply is over.
class ForwardCall {
 public:
  /// Serves the request; returns at once. `loop` must outlive the call (GatewayLoop::end).
  static void start(GatewayLoop& loop, ForwardStart start, http::Responder responder);

 private:
  /// How one device's try ended.
  enum class Try : std::uint8_t {
    kOver,  ///< the client has its reply, or left
    kNext,  ///< nothing was sent, and another device may be tried
  };
  struct Refused {
    int status = 502;
    std::string message;
    std::optional<std::string> code;
    std::int64_t retry_after_ms = 0;
  };

  ForwardCall(GatewayLoop& loop, ForwardStart start, http::Responder responder);
  static http::Detached run_detached(std::unique_ptr<ForwardCall> call);

  http::Task<void> run();
  http::Task<bool> read();
  bool find_devices();
  bool has_capable_device();
  bool move_to_new_setup();
  void order();
  http::Task<void> forward();
  http::Task<std::optional<Reservation>> reserve();
  http::Task<Try> try_device(Reservation reservation);
  http::Task<Try> take_reply(Reservation& reservation, http::ClientResponse& response);
  Try take_failure(Reservation& reservation, const http::ClientError& error);
  http::ClientRequest upstream_request(std::size_t device);
  http::Response reply_head(const http::ClientResponse& response) const;
  void release(Reservation& reservation, RequestEnd end, int status, DeviceSign fault,
               std::optional<std::int64_t> retry_after_ms);
  void log_changes(const FleetChanges& changes) const;
  void refuse(const Refused& refused);
  bool has_next() const;
  bool is_gone() const { return responder_.cancelled().stop_requested(); }
  std::string device_name() const;
  http::Fields route_fields() const;
  double since_ms(std::int64_t ns) const;

  http::Task<void> finish();
  void count(bool is_new);
  void end_count();
  void write_decision(const Decided& decided);
  ServedRequest served() const;

  GatewayLoop& loop_;
  GatewayCore& core_;
  ForwardStart start_;
  http::Responder responder_;
  GatewaySetupPtr setup_;
  const std::int64_t begun_ns_;
  ChatRequest chat_;
  std::shared_ptr<const RequestBody> body_;
  DeviceCandidates candidates_;
  Decided decided_;
  DeviceOrder order_;
  std::size_t next_ = 0;  ///< in order_.devices
  std::optional<std::size_t> device_;
  std::optional<ReplyRelay> relay_;
  Reservation* reservation_ = nullptr;  ///< while its reply passes
  Refused last_failure_;
  int status_ = 0;
  int tries_ = 0;
  bool overflow_ = false;
  bool replied_ = false;     ///< the client has, or was to have, the reply of `device_`
  bool is_counted_ = false;  ///< in in_flight
  double wait_ms_ = 0;
  std::int64_t sent_ns_ = 0;
};

}  // namespace layard::gateway
